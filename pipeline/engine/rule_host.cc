// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/rule_host.h"

#include <algorithm>
#include <string>

#include "trainwatch/booked_iteration.h"
#include "trainwatch/cycle_summary.h"
#include "trainwatch/gpu_report.h"
#include "trainwatch/hang.h"
#include "trainwatch/run_ending.h"
#include "trainwatch/tensor.h"

namespace trainwatch {

RuleHost::RuleHost(std::vector<RuleConfig> rules, const Interner& interner, Outputs& outputs,
                   const NodeActivity* node, const CheckpointActivity* checkpoints,
                   PauseActivity* pauses)
    : rules_(std::move(rules)),
      routes_(rules_,
              [](const RuleConfig& rule) -> const Interest& { return rule.spec->interest; }),
      interner_(interner),
      outputs_(outputs),
      node_(node),
      checkpoints_(checkpoints),
      pauses_(pauses),
      evaluations_(rules_.size()),
      tallies_(rules_.size()),
      by_subject_(rules_.size()),
      by_series_(rules_.size()),
      instances_(rules_.size()),
      next_ticks_(rules_.size()) {}

RuleHost::Instance* RuleHost::own_instance(std::uint32_t rule, SubjectId key) {
  std::vector<Instance*>& known = by_subject_[rule];
  const auto index = static_cast<std::size_t>(key);
  if (index >= known.size()) known.resize(index + 1);
  if (known[index] != nullptr) return known[index];
  const RuleConfig& config = rules_[rule];
  auto impl = config.spec->make(config.params, context_of(key));
  auto out = outputs_.make(rule, config, key, impl->lifecycle());
  const std::size_t place = instances_[rule].size();
  instances_[rule].push_back(
      std::make_unique<Instance>(Instance{rule, key, std::move(impl), std::move(out), place}));
  next_ticks_[rule].emplace_back();
  known[index] = instances_[rule].back().get();
  return known[index];
}

RuleHost::Instance* RuleHost::instance(std::uint32_t rule, SubjectId subject) {
  std::vector<Instance*>& known = by_subject_[rule];
  const auto index = static_cast<std::size_t>(subject);
  if (index < known.size() && known[index] != nullptr) return known[index];
  const Subject wanted = project(interner_.subjects[subject], rules_[rule].spec->scope);
  Instance* const own = own_instance(rule, interner_.subjects.find(wanted));
  if (index >= known.size()) known.resize(index + 1);
  known[index] = own;
  return own;
}

RuleHost::Instance* RuleHost::add_series(std::uint32_t rule, SeriesId series) {
  std::vector<Instance*>& known = by_series_[rule];
  const auto index = static_cast<std::size_t>(series);
  if (index >= known.size()) known.resize(index + 1);
  known[index] = instance(rule, interner_.series[series].subject);
  return known[index];
}

void RuleHost::on(const Span& span) {
  for (const std::uint32_t rule : routes_.of(span)) {
    run<&Rule::on_span>(*instance(rule, span.subject), span.end(), span);
  }
}

template <auto kMethod>
void RuleHost::run_step(std::uint32_t rule, const Step& step) {
  Instance& made = *instance(rule, step.subject);
  if (step.restarts && step.origin != Origin::profiler) made.out->restarted(step.begin);
  run<kMethod>(made, step.end(), step);
}

void RuleHost::on(const Step& step) {
  for (const std::uint32_t rule : routes_.steps(step.origin)) run_step<&Rule::on_step>(rule, step);
}

void RuleHost::on_complete(const Step& step) {
  for (const std::uint32_t rule : routes_.complete_steps(step.origin)) {
    run_step<&Rule::on_complete_step>(rule, step);
  }
}

void RuleHost::on(const CycleSummary& cycle) {
  for (const std::uint32_t rule : routes_.cycles()) {
    run<&Rule::on_cycle>(*instance(rule, cycle.subject), time_from_ns(cycle.end_ns()), cycle);
  }
}

void RuleHost::on(const BookedIteration& iteration) {
  for (const std::uint32_t rule : routes_.booked()) {
    run<&Rule::on_booked>(*instance(rule, iteration.job), iteration.to, iteration);
  }
}

void RuleHost::on(const HangFinding& finding) {
  for (const std::uint32_t rule : routes_.hangs()) {
    run<&Rule::on_hang>(*instance(rule, finding.job), finding.at, finding);
  }
}

void RuleHost::on(const RunEnding& ending) {
  for (const std::uint32_t rule : routes_.run_ends()) {
    run<&Rule::on_run_end>(*instance(rule, ending.job), ending.at, ending);
  }
}

void RuleHost::on(const GpuReport& report) {
  for (const std::uint32_t rule : routes_.gpu_reports()) {
    run<&Rule::on_gpu_report>(*instance(rule, report.gpu), report.at, report);
  }
}

void RuleHost::on(const SourceNote& note) {
  if (note.kind == SourceNote::Kind::cycle_complete) return;
  for (const std::uint32_t rule : routes_.notes()) {
    run<&Rule::on_note>(*instance(rule, note.subject), note.at, note);
  }
}

void RuleHost::on(const Scalar& scalar) {
  for (const std::uint32_t rule : routes_.scalars()) {
    run<&Rule::on_scalar>(*instance(rule, scalar.subject), scalar.at, scalar);
  }
}

void RuleHost::on(const Tensor& tensor) {
  for (const std::uint32_t rule : routes_.tensors()) {
    run<&Rule::on_tensor>(*instance(rule, tensor.subject), tensor.at, tensor);
  }
}

void RuleHost::tick(Time now) {
  for (const std::uint32_t rule : routes_.ticks()) {
    std::vector<Time>& next = next_ticks_[rule];
    for (std::size_t i = 0; i < next.size(); ++i) {
      if (now >= next[i]) next[i] = tick(*instances_[rule][i], now);
      if (want_times_) instances_[rule][i]->out->time_reached(now);
    }
  }
}

Time RuleHost::tick(Instance& instance, Time now) {
  const TickResult result = instance.impl->on_tick(Tick{now}, *instance.out);
  if (result.changed) {
    ++evaluations_[instance.rule];
    note_ran(instance);
  }
  instance.rests = result.next > now;
  return result.next;
}

void RuleHost::wake() {
  for (std::vector<Time>& next : next_ticks_) std::ranges::fill(next, Time{});
}

void RuleHost::end_of_input(const JobTimes& times) {
  for (const std::uint32_t rule : routes_.end()) {
    for (const auto& made : instances_[rule]) {
      const Time latest = times.latest(made->subject);
      run<&Rule::on_end>(*made, latest, latest);
    }
  }
}

std::size_t RuleHost::instances(std::uint32_t rule) const {
  return instances_[rule].size();
}

const RuleHost::Tally& RuleHost::tally(std::uint32_t rule) const {
  Tally& known = tallies_[rule];
  const auto& instances = instances_[rule];
  if (known.instances == instances.size() && known.evaluations == evaluations_[rule]) return known;
  known = {instances.size(), evaluations_[rule]};
  for (const auto& made : instances) {
    if (made->impl->warming()) ++known.warming;
    const auto missing = made->impl->missing();
    if (!missing.empty()) ++known.abstaining;
    known.missing.insert(missing.begin(), missing.end());
  }
  return known;
}

}  // namespace trainwatch
