// SPDX-License-Identifier: Apache-2.0
// What the families of metrics about the training job are made of.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/analysis/core/alerted_steps.h"
#include "pipeline/analysis/core/histogram.h"
#include "trainwatch/interner.h"
#include "trainwatch/snapshot.h"

namespace trainwatch {

inline constexpr std::size_t kMaxSeries = 2000;  // of a family, by what it is labelled with

// The `train_job` of what has no series of its own.
inline constexpr std::string_view kOther = "__other__";

// The series that have no room in a family.
class LeftOut {
 public:
  // True if it is the first time. `kind`: below 16, what else tells series of a subject apart.
  bool add(SubjectId subject, std::size_t kind = 0) {
    const std::size_t index = static_cast<std::size_t>(subject) * 16 + kind;
    if (index >= known_.size()) known_.resize(index + 1);
    if (known_[index]) return false;
    known_[index] = true;
    return true;
  }

 private:
  std::vector<bool> known_;
};

// What collect() needs to know.
struct MetricsView {
  Cardinality cardinality = Cardinality::normal;
  AlertedSteps alerted{};
};

// train_job, node and rank, where they are known.
inline Labels labels_of(const Subject& subject) {
  Labels labels;
  if (!subject.job.empty()) labels.add("train_job", subject.job);
  if (!subject.node.empty()) labels.add("node", subject.node);
  if (subject.rank != kNoRank) labels.add("rank", std::to_string(subject.rank));
  if (subject.process != kNoProcess) labels.add("process", std::to_string(subject.process));
  return labels;
}

inline Labels labels_of(const Interner& interner, SubjectId id) {
  return labels_of(interner.subjects[id]);
}

inline Labels with(Labels labels, std::string_view name, std::string_view value) {
  labels.add(name, value);
  return labels;
}

inline MetricFamily family(std::string_view name, std::string_view help, MetricType type) {
  return {std::string(name), std::string(help), type, {}, {}};
}

}  // namespace trainwatch
