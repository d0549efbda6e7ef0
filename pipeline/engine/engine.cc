#include "pipeline/engine/engine.h"

#include <algorithm>
#include <string>
#include <utility>

namespace trainwatch {
namespace {

// Equal as users see it: the same rule with the same printed parameters and timing.
bool same(const RuleConfig& a, const RuleConfig& b) {
  return a.spec == b.spec && a.hold == b.hold && a.keep == b.keep &&
         std::all_of(a.spec->params.begin(), a.spec->params.end(), [&](const Param& param) {
           return param.print(a.params) == param.print(b.params);
         });
}

}  // namespace

Engine::Engine(std::vector<RuleConfig> rules)
    : host_(std::make_unique<RuleHost>(std::move(rules), vocabulary_, listener())) {}

void Engine::push(std::span<const Event> events) {
  for (const Event& event : events) {
    if (const auto* sample = std::get_if<Sample>(&event)) {
      on(*sample, event);
    } else if (const auto* span = std::get_if<Span>(&event)) {
      on(*span, event);
    } else if (const auto* step = std::get_if<Step>(&event)) {
      on(*step, event);
    }
  }
  if (!unsettled_.empty()) refine(false);
}

void Engine::on(const Sample& sample, const Event& event) {
  latest_ = std::max(latest_, sample.at);
  metrics_.on(sample);
  system_.on(sample);
  host_->on(sample, event);
}

void Engine::on(const Span& span, const Event& event) {
  latest_ = std::max(latest_, span.end());
  metrics_.on(span);
  spans_.on(span);
  host_->on(span, event);
  if (const auto step = steps_.on(span)) {
    const Event derived = *step;
    on(*step, derived);
  }
}

void Engine::on(const Step& step, const Event& event) {
  metrics_.on(step);
  host_->on(step, event);
}

void Engine::tick(Time now) {
  const Tick tick{now};
  host_->on(tick, Event{tick});
}

AlertBook::Timing Engine::timing(std::uint32_t rule) const {
  const RuleConfig& config = host_->rules()[rule];
  return {config.hold, config.keep};
}

void Engine::judged(std::uint32_t rule, SubjectId subject, Verdicts& verdicts) {
  for (Verdict& verdict : verdicts) {
    const Verdict before = verdict;
    const bool explainable =
        verdict.state == Verdict::State::firing && verdict.window_end > verdict.window_start;
    if (explainable) verdict.cause = attribution_.explain(verdict, subject);
    const RuleSpec& spec = *host_->rules()[rule].spec;
    const Alert* alert = book_.apply(rule, spec, timing(rule), subject, std::move(verdict));
    if (alert == nullptr || !explainable || attribution_.settled(before, subject)) continue;
    std::erase_if(unsettled_, [&](const Unsettled& known) { return known.id == alert->id; });
    if (unsettled_.size() == kMaxUnsettled) unsettled_.pop_front();
    unsettled_.push_back({{rule, subject, before.key}, alert->id, before});
  }
  host_->want_times(book_.waiting());
}

void Engine::time_reached(std::uint32_t rule, SubjectId subject, Time time) {
  book_.advance(rule, subject, timing(rule), time);
  host_->want_times(book_.waiting());
}

void Engine::refine(bool all) {
  for (auto entry = unsettled_.begin(); entry != unsettled_.end();) {
    const bool settled = attribution_.settled(entry->verdict, entry->key.subject);
    if (settled || all) {
      book_.refine(entry->key, entry->id, attribution_.explain(entry->verdict, entry->key.subject));
    }
    entry = settled ? unsettled_.erase(entry) : entry + 1;
  }
}

void Engine::flush() {
  refine(true);
  book_.flush();
}

void Engine::reconfigure(std::vector<RuleConfig> rules) {
  StateIo saving = StateIo::saving();
  host_->state(saving);
  const std::string saved = saving.take();
  const std::vector<RuleConfig> old = host_->rules();

  std::vector<std::int64_t> old_index(rules.size(), -1);
  for (std::size_t i = 0; i < rules.size(); ++i) {
    for (std::size_t j = 0; j < old.size(); ++j) {
      if (same(rules[i], old[j])) old_index[i] = static_cast<std::int64_t>(j);
    }
  }
  book_.renumber(old_index, old.size(), latest_);
  auto host = std::make_unique<RuleHost>(std::move(rules), vocabulary_, listener());
  host->take_over(saved, old_index);
  host_ = std::move(host);
  unsettled_.clear();
  host_->want_times(book_.waiting());
}

void Engine::state(StateIo& io) {
  io(vocabulary_);
  io(steps_);
  io(system_);
  io(spans_);
  io(metrics_);
  io(book_);
  io(*host_);
  auto count = static_cast<std::uint32_t>(unsettled_.size());
  io(count);
  if (io.is_loading()) unsettled_.assign(std::min<std::size_t>(count, kMaxUnsettled), {});
  for (Unsettled& entry : unsettled_) {
    io(entry.key);
    io(entry.id);
    entry.verdict.save(io);
  }
  io(latest_);
  if (io.is_loading()) host_->want_times(book_.waiting());
}

}  // namespace trainwatch
