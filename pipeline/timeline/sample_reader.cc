// SPDX-License-Identifier: Apache-2.0
#include "pipeline/timeline/sample_reader.h"

#include <cmath>

#include "pipeline/decode/formats/format_catalog.h"
#include "trainwatch/json_writer.h"

namespace trainwatch {

SampleReader::SampleReader(Interner& interner, TrackTable& tracks, TimelineSink& sink,
                           TimeWindow window, const std::string& path, const std::string& job)
    : tracks_(tracks),
      sink_(sink),
      window_(window),
      context_{FileId{}, LaneId{}, path, job, kNoRank, interner, *this, {}, nullptr},
      decoder_(system_metrics_format.make(context_)) {}

void SampleReader::feed(std::string_view contents) {
  decoder_->feed(contents, samples_);
  pass_on();
}

void SampleReader::finish() {
  decoder_->finish(samples_);
  pass_on();
}

const SampleReader::Counter& SampleReader::counter_of(SeriesId id) {
  if (const auto known = counters_.find(id); known != counters_.end()) return known->second;
  const Interner& names = context_.interner;
  const Series& series = names.series[id];
  const Subject& subject = names.subjects[series.subject];
  std::string name(names.text(series.name));
  const std::string_view dimension = names.text(series.dimension);
  if (!name.empty() && !dimension.empty()) name += ' ';
  JsonWriter quoted;
  quoted.value(name.append(dimension));
  const std::string where = subject.job.empty() ? subject.node : subject.job + '/' + subject.node;
  const TrackId track = tracks_.counters(tracks_.phase("System metrics " + where), subject.node);
  return counters_.emplace(id, Counter{track, quoted.take()}).first->second;
}

void SampleReader::pass_on() {
  for (const Event& event : samples_) {
    const auto* const sample = std::get_if<Sample>(&event);
    if (sample == nullptr) continue;
    const std::int64_t at_ns = to_ns(sample->at);
    if (!window_.touches(at_ns, at_ns) || !std::isfinite(sample->value)) continue;
    const Counter& counter = counter_of(sample->series);
    TimelineEvent counted;
    counted.start_ns = at_ns;
    counted.value = sample->value;
    counted.track = counter.track;
    counted.type = 'C';
    counted.name = counter.name;
    sink_.event(counted);
  }
  samples_.clear();
}

}  // namespace trainwatch
