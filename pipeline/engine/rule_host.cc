#include "pipeline/engine/rule_host.h"

#include <algorithm>
#include <string>

#include "trainwatch/cycle_measure.h"

namespace trainwatch {

RuleHost::RuleHost(std::vector<RuleConfig> rules, const Vocabulary& vocabulary, Listener& listener)
    : rules_(std::move(rules)),
      vocabulary_(vocabulary),
      listener_(listener),
      evaluations_(rules_.size()),
      by_subject_(rules_.size()) {
  for (std::uint32_t rule = 0; rule < rules_.size(); ++rule) {
    const Interest& interest = rules_[rule].spec->interest;
    for (const Resource resource : interest.samples) {
      sample_routes_[static_cast<std::size_t>(resource)].push_back({rule, {}});
    }
    for (const SpanKind kind : interest.spans) {
      span_rules_[static_cast<std::size_t>(kind)].push_back(rule);
    }
    if (interest.steps) step_rules_.push_back(rule);
    if (interest.ticks) tick_rules_.push_back(rule);
    if (interest.cycles) cycle_rules_.push_back(rule);
  }
}

RuleHost::Instance* RuleHost::make(std::uint32_t rule, SubjectId key) {
  const auto known = std::find_if(instances_.begin(), instances_.end(), [&](const auto& made) {
    return made->rule == rule && made->subject == key;
  });
  if (known != instances_.end()) return known->get();
  const RuleConfig& config = rules_[rule];
  auto impl = config.spec->make(config.params, RuleContext{vocabulary_, key});
  instances_.push_back(std::make_unique<Instance>(Instance{rule, key, std::move(impl), false}));
  return instances_.back().get();
}

RuleHost::Instance* RuleHost::instance(std::uint32_t rule, SubjectId subject) {
  std::vector<Instance*>& known = by_subject_[rule];
  const auto index = static_cast<std::size_t>(subject);
  if (index >= known.size()) known.resize(index + 1);
  if (known[index] == nullptr) {
    const Subject wanted = project(vocabulary_.subjects[subject], rules_[rule].spec->scope);
    const SubjectId key = vocabulary_.subjects.find(wanted);
    known[index] = make(rule, key);
  }
  return known[index];
}

RuleHost::Instance* RuleHost::add_route(SampleRoute& route, SeriesId series) {
  const auto index = static_cast<std::size_t>(series);
  if (index >= route.by_series.size()) route.by_series.resize(index + 1);
  route.by_series[index] = instance(route.rule, vocabulary_.series[series].subject);
  return route.by_series[index];
}

void RuleHost::on(const Span& span, const Event& event) {
  for (const std::uint32_t rule : span_rules_[static_cast<std::size_t>(span.kind)]) {
    run(*instance(rule, span.subject), event, span.end());
  }
}

void RuleHost::on(const Step& step, const Event& event) {
  for (const std::uint32_t rule : step_rules_) {
    run(*instance(rule, step.subject), event, step.end());
  }
}

void RuleHost::on(const Tick& tick, const Event& event) {
  for (const std::uint32_t rule : tick_rules_) {
    for (const auto& made : instances_) {
      if (made->rule == rule) run(*made, event, tick.now);
    }
  }
}

void RuleHost::on(const Cycle& cycle, const Event& event) {
  const CycleMeasure& measure = *cycle.measure;
  for (const std::uint32_t rule : cycle_rules_) {
    run(*instance(rule, measure.subject), event, time_from_ns(measure.end_ns()));
  }
}

void RuleHost::on(const EndOfInput&, const Event& event, Time latest) {
  for (const std::uint32_t rule : cycle_rules_) {
    for (const auto& made : instances_) {
      if (made->rule == rule) run(*made, event, latest);
    }
  }
}

std::size_t RuleHost::instances(std::uint32_t rule) const {
  return static_cast<std::size_t>(std::count_if(
      instances_.begin(), instances_.end(), [&](const auto& made) { return made->rule == rule; }));
}

std::size_t RuleHost::warming(std::uint32_t rule) const {
  return static_cast<std::size_t>(
      std::count_if(instances_.begin(), instances_.end(),
                    [&](const auto& made) { return made->rule == rule && made->impl->warming(); }));
}

std::size_t RuleHost::abstaining(std::uint32_t rule) const {
  return static_cast<std::size_t>(std::ranges::count_if(instances_, [&](const auto& made) {
    return made->rule == rule && !made->impl->missing().empty();
  }));
}

std::set<std::string_view> RuleHost::missing(std::uint32_t rule) const {
  std::set<std::string_view> all;
  for (const auto& made : instances_) {
    if (made->rule != rule) continue;
    for (const std::string_view input : made->impl->missing()) all.insert(input);
  }
  return all;
}

}  // namespace trainwatch
