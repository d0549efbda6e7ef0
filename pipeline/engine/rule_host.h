// SPDX-License-Identifier: Apache-2.0
// Runs the configured rules: one instance of a rule per subject of its scope, each given only the
// events it asked for. Knows nothing of alerts.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/analysis/job_times.h"
#include "pipeline/engine/event_routes.h"
#include "trainwatch/event.h"
#include "trainwatch/interner.h"
#include "trainwatch/rule.h"
#include "trainwatch/state_rows.h"

namespace trainwatch {

class RuleHost {
 public:
  // Creates the outputs to which the instances report.
  class Outputs {
   public:
    // The output of one instance.
    class Output : public Verdicts {
     public:
      // An event of this time has reached the instance. Called if requested by `want_times`.
      virtual void time_reached(Time time) = 0;
    };
    virtual ~Outputs() = default;
    // `config` and the result live as long as the host.
    virtual std::unique_ptr<Output> make(std::uint32_t rule, const RuleConfig& config,
                                         SubjectId subject, const Lifecycle& lifecycle) = 0;
  };

  // `node` outlives the host; null: rules know nothing of nodes.
  RuleHost(std::vector<RuleConfig> rules, const Interner& interner, Outputs& outputs,
           const NodeActivity* node = nullptr, const CheckpointActivity* checkpoints = nullptr,
           PauseActivity* pauses = nullptr);

  void on(const Sample& sample) {
    for (const std::uint32_t rule : routes_.of(sample)) {
      run<&Rule::on_sample>(*instance(rule, sample.series), sample.at, sample);
    }
  }
  void on(const Span& span);
  void on(const Step& step);
  void on_complete(const Step& step);
  void on(const CycleSummary& cycle);
  void on(const HangFinding& finding);
  void on(const BookedIteration& iteration);
  void on(const RunEnding& ending);
  void on(const GpuReport& report);
  void on(const SourceNote& note);
  void on(const Scalar& scalar);
  void on(const Tensor& tensor);
  // Whether any rule takes tensors.
  bool wants_tensors() const { return !routes_.tensors().empty(); }
  void tick(Time now);
  // A checkpoint was written: every instance gets the next tick.
  void wake();
  // Finished files were read to their ends, those of each job up to its latest time.
  void end_of_input(const JobTimes& times);

  // While true, outputs receive the event time that their instance has reached.
  void want_times(bool wanted) { want_times_ = wanted; }

  const std::vector<RuleConfig>& rules() const { return rules_; }
  std::size_t instances(std::uint32_t rule) const;
  std::size_t warming(std::uint32_t rule) const { return tally(rule).warming; }
  // The instances that abstain, and what they miss.
  std::size_t abstaining(std::uint32_t rule) const { return tally(rule).abstaining; }
  const std::set<std::string_view>& missing(std::uint32_t rule) const {
    return tally(rule).missing;
  }
  std::uint64_t evaluations(std::uint32_t rule) const { return evaluations_[rule]; }

  // Puts the rules and the instances that ran since the last call; `all`: every one.
  void save(StateRows& rows, bool all);
  // Loads what a host saved, perhaps one with other rules. Returns for each rule whether it is the
  // same as the saved one, with the same parameters and timing. The instances of other rules are
  // created, so that they show as warming up, but start cold; so does one whose row is damaged.
  std::vector<bool> load(const SavedState& saved);

 private:
  struct Instance {
    std::uint32_t rule = 0;
    SubjectId subject = SubjectId::none;
    std::unique_ptr<Rule> impl;
    std::unique_ptr<Outputs::Output> out;
    std::size_t place = 0;  // among those of its rule
    bool ran = false;       // since it was last saved
    bool rests = false;     // it needs no tick before a time that has not come yet
  };

  // Of the instances of a rule, counted again only if one of them has run or is new: snapshots ask
  // for them again and again.
  struct Tally {
    std::size_t instances = 0;
    std::uint64_t evaluations = 0;
    std::size_t warming = 0;
    std::size_t abstaining = 0;
    std::set<std::string_view> missing{};
  };
  const Tally& tally(std::uint32_t rule) const;

  Instance* instance(std::uint32_t rule, SeriesId series) {
    const std::vector<Instance*>& known = by_series_[rule];
    const auto index = static_cast<std::size_t>(series);
    if (index < known.size() && known[index] != nullptr) return known[index];
    return add_series(rule, series);
  }
  Instance* add_series(std::uint32_t rule, SeriesId series);
  Instance* instance(std::uint32_t rule, SubjectId subject);
  // The instance of a scope key, made if new.
  Instance* own_instance(std::uint32_t rule, SubjectId key);
  RuleContext context_of(SubjectId key) const {
    return RuleContext{interner_, key, node_, checkpoints_, pauses_};
  }
  void save_instance(StateRows& rows, const Instance& instance) const;
  void load_instance(std::uint32_t rule, SubjectId subject, StateIo io);

  void note_ran(Instance& instance) {
    if (std::exchange(instance.rests, false)) next_ticks_[instance.rule][instance.place] = Time{};
    if (!std::exchange(instance.ran, true)) ran_.push_back(&instance);
  }

  template <auto kMethod, class... Input>
  void run(Instance& instance, Time time, const Input&... input) {
    ++evaluations_[instance.rule];
    note_ran(instance);
    ((*instance.impl).*kMethod)(input..., *instance.out);
    if (want_times_) instance.out->time_reached(time);
  }

  // Returns when it needs the next tick.
  Time tick(Instance& instance, Time now);

  template <auto kMethod>
  void run_step(std::uint32_t rule, const Step& step);

  std::vector<RuleConfig> rules_;
  EventRoutes routes_;  // to rules_
  const Interner& interner_;
  Outputs& outputs_;
  const NodeActivity* node_;
  const CheckpointActivity* checkpoints_;
  PauseActivity* pauses_;
  bool want_times_ = false;
  std::vector<std::uint64_t> evaluations_;  // by rule
  std::vector<std::uint64_t> evaluations_saved_;
  mutable std::vector<Tally> tallies_;  // by rule
  std::vector<Instance*> ran_;          // since they were last saved
  // by rule, then by SubjectId of the event; shared instances appear under several subjects, that
  // of their scope key among them
  std::vector<std::vector<Instance*>> by_subject_;
  std::vector<std::vector<Instance*>> by_series_;  // the same by SeriesId, filled by samples
  std::vector<std::vector<std::unique_ptr<Instance>>> instances_;  // by rule, in order of creation
  // Of the same. Apart, so that those that rest are not even fetched into the cache.
  std::vector<std::vector<Time>> next_ticks_;
};

}  // namespace trainwatch
