// How much of each type of resource a node uses in each training phase. The phases are those of the
// job's lowest rank: one table for the job, as SageMaker has it.
//
// Samples and steps may be read in any order. A sample waits until a later step is known and its
// node's samples are kLateness further; what waits is counted as well as is known. A node lets at
// most kWaiting samples wait: beyond, they are taken to lie after the newest step and before the
// next one, and left out and counted should that one begin among them.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "pipeline/analysis/step_phases.h"
#include "trainwatch/event.h"
#include "trainwatch/state_io.h"
#include "trainwatch/stats/distribution.h"
#include "trainwatch/vocabulary.h"

namespace trainwatch {

class PhaseUsage {
 public:
  static constexpr Nanos kLateness = std::chrono::seconds(60);
  static constexpr std::size_t kWaiting = 65536;  // samples of a node
  static constexpr std::size_t kMaxNodes = 1024;
  static constexpr std::size_t kMaxGroups = 512;

  struct Resource {
    Symbol type = Symbol::none;
    SubjectId node = SubjectId::none;
    auto operator<=>(const Resource&) const = default;
  };
  struct Group {
    PhasePlace place;
    Resource resource;
    auto operator<=>(const Group&) const = default;
  };
  // A resource is several series: more values are kept for exact quantiles than of one.
  struct Values : Distribution {
    Values() : Distribution(4096) {}
  };
  using Groups = std::map<Group, Values>;

  explicit PhaseUsage(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {}

  void on_step(const Span& step);
  void on_sample(const Sample& sample, Resource resource);

  // By the name of the phase, and what it is of. Empty without steps.
  std::map<std::pair<std::string, Resource>, Values> result() const;
  std::uint64_t left_out() const { return left_out_; }

  void state(StateIo& io);

 private:
  struct Waiting {
    Time at{};
    double value = 0;
    Symbol type = Symbol::none;
    std::uint32_t reserved = 0;  // no unset bytes in the state
  };
  struct Node {
    std::deque<Waiting> waiting;
    Time newest = kNoTime;
    void state(StateIo& io) {
      io(waiting);
      io(newest);
    }
  };

  bool leads(SubjectId rank) const;
  bool is_final(const Node& node, const Waiting& sample) const;
  void settle_front(SubjectId id, Node& node);
  void settle_beyond(const StepPhases::Step& step);
  void add(Groups& groups, const Group& group, double value);
  void merge(const Group& group, const Distribution& values);
  std::string name_of(const PhasePlace& place) const;

  const Vocabulary& vocabulary_;
  SubjectId leader_ = SubjectId::none;
  bool led_ = false;  // there was a step
  StepPhases phases_;
  std::map<SubjectId, Node> nodes_;
  Groups groups_;
  Groups beyond_;  // what did not wait any longer, after the newest step; their place is "after"
  Time newest_beyond_ = kNoTime;
  std::uint64_t left_out_ = 0;  // samples
};

}  // namespace trainwatch
