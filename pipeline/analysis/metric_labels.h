// What the families of metrics about the training job have in common.
#pragma once

#include <string>
#include <string_view>

#include "pipeline/analysis/histogram.h"
#include "trainwatch/snapshot.h"
#include "trainwatch/vocabulary.h"

namespace trainwatch {

// train_job, node and rank, where they are known.
inline Labels labels_of(const Vocabulary& vocabulary, SubjectId id) {
  const Subject& subject = vocabulary.subjects[id];
  Labels labels;
  if (!subject.job.empty()) labels.emplace_back("train_job", subject.job);
  if (!subject.node.empty()) labels.emplace_back("node", subject.node);
  if (subject.rank != kNoRank) labels.emplace_back("rank", std::to_string(subject.rank));
  return labels;
}

inline Labels with(Labels labels, std::string name, std::string_view value) {
  labels.emplace_back(std::move(name), value);
  return labels;
}

inline MetricFamily family(std::string_view name, std::string_view help, MetricType type) {
  return {std::string(name), std::string(help), type, {}, {}};
}

template <class HistogramType = Histogram>
MetricFamily histogram_family(std::string_view name, std::string_view help) {
  MetricFamily made = family(name, help, MetricType::histogram);
  made.bounds.assign(HistogramType::kBounds.begin(), HistogramType::kBounds.end());
  return made;
}

}  // namespace trainwatch
