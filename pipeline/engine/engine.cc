#include "pipeline/engine/engine.h"

#include <algorithm>
#include <string>
#include <utility>

#include "pipeline/cycle/cycle_measure.h"

namespace trainwatch {
Engine::Engine(std::vector<RuleConfig> rules, AnalysisList analyses)
    : host_(std::make_unique<RuleHost>(std::move(rules), vocabulary_, listener())),
      analyses_(std::move(analyses), vocabulary_) {}

void Engine::push(std::span<const Event> events) {
  for (const Event& event : events) {
    if (const auto* sample = std::get_if<Sample>(&event)) {
      on(*sample, event);
    } else if (const auto* span = std::get_if<Span>(&event)) {
      on(*span, event);
    } else if (const auto* step = std::get_if<Step>(&event)) {
      on(*step, event);
    } else if (const auto* cycle = std::get_if<Cycle>(&event)) {
      host_->on(*cycle, event);
    } else if (const auto* end = std::get_if<EndOfInput>(&event)) {
      host_->on(*end, event, latest_);
    }
  }
  if (!unsettled_.empty()) refine(false);
}

void Engine::on(const Sample& sample, const Event& event) {
  latest_ = std::max(latest_, sample.at);
  metrics_.on(sample);
  system_.on(sample);
  host_->on(sample, event);
  analyses_.on(sample, event);
}

void Engine::on(const Span& span, const Event& event) {
  latest_ = std::max(latest_, span.end());
  metrics_.on(span);
  spans_.on(span);
  host_->on(span, event);
  analyses_.on(span, event);
  if (const auto step = steps_.on(span)) {
    const Event derived = *step;
    on(*step, derived);
  }
}

void Engine::on(const Step& step, const Event& event) {
  metrics_.on(step);
  host_->on(step, event);
}

void Engine::on(const CycleTrace& cycle) {
  CycleMeasure measured;
  {  // its list of rows is large, and nobody reads it afterwards
    const SelectedCycle selected(cycle, StepSelection::included);
    measured = measure(selected);
    gpu_metrics_.on(selected, measured);
  }
  cycles_.on(measured);
  const Cycle event{&measured};
  host_->on(event, Event{event});
  analyses_.on(cycle);
}

void Engine::tick(Time now) {
  const Tick tick{now};
  host_->on(tick, Event{tick});
}

void Engine::end_of_input() {
  const EndOfInput end;
  host_->on(end, Event{end}, latest_);
  flush();
}

AlertBook::Timing Engine::timing(std::uint32_t rule) const {
  const RuleConfig& config = host_->rules()[rule];
  return {config.hold, config.keep};
}

void Engine::judged(std::uint32_t rule, SubjectId subject, Verdicts& verdicts) {
  for (Verdict& verdict : verdicts) {
    const bool explainable =
        verdict.state == Verdict::State::firing && verdict.window_end > verdict.window_start;
    // For good, as the next cycle takes the place of this one.
    if (explainable && !attribution_.is_enough(verdict.cause)) {
      const auto cause = cycles_.explain(subject, verdict.window_start);
      if (cause && attribution_.is_enough(*cause)) verdict.cause = *cause;
    }
    const Verdict before = verdict;
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
  StateRows saved;
  host_->save(saved, true);
  book_.save(saved, host_->rules(), true);
  StoredRows rows;
  for (const auto& [key, value] : saved.all()) {
    if (value) rows.emplace(key, *value);
  }
  host_ = std::make_unique<RuleHost>(std::move(rules), vocabulary_, listener());
  book_.load(rows, host_->rules(), host_->load(rows), latest_);
  unsettled_.clear();
  host_->want_times(book_.waiting());
}

}  // namespace trainwatch
