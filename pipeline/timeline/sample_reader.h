// SPDX-License-Identifier: Apache-2.0
// System metrics as counters of a merged timeline: one per series, in a process per node.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/decode/decoder.h"
#include "pipeline/timeline/event_reader.h"

namespace trainwatch {

class SampleReader final : public EventReader, private Diagnostics {
 public:
  // All outlive this. `job` is set where there are several.
  SampleReader(Interner& interner, TrackTable& tracks, TimelineSink& sink, TimeWindow window,
               const std::string& path, const std::string& job);

  void feed(std::string_view contents) override;
  void finish() override;
  std::uint64_t left_out() const override { return left_out_; }

 private:
  struct Counter {
    TrackId track{};
    std::string name;
  };

  void reject(FileId, RejectReason, std::string_view) override { ++left_out_; }
  void pass_on();
  const Counter& counter_of(SeriesId series);

  TrackTable& tracks_;
  TimelineSink& sink_;
  TimeWindow window_;
  FileContext context_;
  std::unique_ptr<Decoder> decoder_;
  EventBatch samples_;
  std::map<SeriesId, Counter> counters_;
  std::uint64_t left_out_ = 0;
};

}  // namespace trainwatch
