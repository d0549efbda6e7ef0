// SPDX-License-Identifier: Apache-2.0
// One pass over a profiler's trace: builds its cycle and, if asked, copies the trace on the way.
//
// One thread; bytes may be cut anywhere. Memory is that of the cycle, as for an analysis.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "pipeline/decode/decoder.h"
#include "pipeline/timeline/file_contents.h"
#include "pipeline/timeline/trace_copy.h"

namespace trainwatch {

class TracePass final : private CycleSink, private Diagnostics {
 public:
  // `rank` is as configured for this path, or kNoRank. `copy` outlives this; null: no copy.
  TracePass(const std::string& path, std::int32_t rank, TraceCopy* copy);

  // The next bytes of the file. False: further ones would be ignored.
  bool feed(std::string_view bytes) { return contents_.feed(bytes); }
  // The file has ended, complete or not.
  void finish();

  bool is_trace() const;
  // As soon as it is known.
  const Format& format() const { return contents_.format(); }
  // Compressed data that ends early or is damaged.
  bool cut_short() const { return contents_.cut_short(); }

  // After finish(); nullopt for a trace without events.
  const std::optional<CycleTrace>& cycle() const { return cycle_; }
  // Whose cycle it is.
  const Subject& subject() const { return interner_.subjects[cycle_->subject]; }

 private:
  void cycle(CycleTrace& cycle) override { cycle_ = std::move(cycle); }
  void reject(FileId, RejectReason, std::string_view) override {}

  Interner interner_;
  FileContext context_;
  std::unique_ptr<Decoder> decoder_;
  EventBatch events_;  // not used
  std::optional<CycleTrace> cycle_;
  TraceCopy* copy_;
  FileContents contents_;
};

}  // namespace trainwatch
