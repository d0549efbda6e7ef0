// One pass over a profiler's trace: finds its cycle, and copies it on the way where that is asked.
//
// One thread; bytes at any cut. Memory is that of the cycle, as for an analysis.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "pipeline/decode/chrome_trace_decoder.h"
#include "pipeline/timeline/trace_contents.h"
#include "pipeline/timeline/trace_copy.h"

namespace trainwatch {

class TracePass final : private CycleSink, private Diagnostics {
 public:
  // `rank`: configured for this path, or kNoRank. `copy` outlives this; null: only look.
  TracePass(const std::string& path, std::int32_t rank, TraceCopy* copy);

  void feed(std::string_view bytes) { contents_.feed(bytes); }
  // The file is over, complete or not.
  void finish();

  bool is_trace() const { return contents_.kind() == TraceContents::Kind::trace; }
  // More bytes would not be looked at.
  bool is_other() const { return contents_.kind() == TraceContents::Kind::other; }
  // Compressed data that ends early or is damaged.
  bool cut_short() const { return contents_.cut_short(); }

  // Once finished; none of a trace without events.
  const std::optional<CycleTrace>& cycle() const { return cycle_; }
  // Whose cycle it is.
  const Subject& subject() const { return vocabulary_.subjects[cycle_->subject]; }

 private:
  void cycle(CycleTrace& cycle) override { cycle_ = std::move(cycle); }
  void reject(FileId, RejectReason, std::string_view) override {}

  Vocabulary vocabulary_;
  FileContext context_;
  ChromeTraceDecoder decoder_;
  EventBatch events_;  // which nobody reads
  std::optional<CycleTrace> cycle_;
  TraceCopy* copy_;
  TraceContents contents_;
};

}  // namespace trainwatch
