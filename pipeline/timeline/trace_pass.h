// One pass over a profiler's trace: builds its cycle and, if asked, copies the trace on the way.
//
// One thread; bytes may be cut anywhere. Memory is that of the cycle, as for an analysis.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "pipeline/decode/decoder.h"
#include "pipeline/decode/gzip_stream.h"
#include "pipeline/timeline/trace_copy.h"

namespace trainwatch {

// The contents of a file, inflated if compressed, and whether they are a profiler's trace.
class TraceContents {
 public:
  // Receives the contents of a trace in order; each piece is valid during the call only.
  using Take = std::function<void(std::string_view contents)>;
  enum class Kind : std::uint8_t { undecided, trace, other };

  TraceContents(std::string path, Take take) : path_(std::move(path)), take_(std::move(take)) {}

  // The next bytes of the file, cut anywhere.
  void feed(std::string_view bytes);
  // The file has ended.
  void finish();

  // Contents of `other` files are dropped.
  Kind kind() const { return kind_; }
  // Compressed data ends early or is damaged.
  bool cut_short() const { return inflate_ != nullptr && !inflate_->at_end(); }

 private:
  enum class Encoding : std::uint8_t { undecided, plain, gzip };

  void contents(std::string_view piece);
  void decide(bool all);

  std::string path_;
  Take take_;
  Encoding encoding_ = Encoding::undecided;
  Kind kind_ = Kind::undecided;
  std::string head_;  // bytes before the encoding is known, contents before the kind is
  std::unique_ptr<InflateStream> inflate_;
};

class TracePass final : private CycleSink, private Diagnostics {
 public:
  // `rank` is as configured for this path, or kNoRank. `copy` outlives this; null: no copy.
  TracePass(const std::string& path, std::int32_t rank, TraceCopy* copy);

  void feed(std::string_view bytes) { contents_.feed(bytes); }
  // The file has ended, complete or not.
  void finish();

  bool is_trace() const { return contents_.kind() == TraceContents::Kind::trace; }
  // Further bytes would be ignored.
  bool is_other() const { return contents_.kind() == TraceContents::Kind::other; }
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
  TraceContents contents_;
};

}  // namespace trainwatch
