// Cuts growing files into records: LineSplitter into lines, RecordSplitter a trace document into
// the objects of its array of events. The result is independent of how the bytes are cut.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/decode/document_metadata.h"
#include "pipeline/decode/json_scanner.h"
#include "trainwatch/diagnostics.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

// A longer record is rejected while it is read, so that memory stays bounded.
inline constexpr std::size_t kMaxRecordBytes = std::size_t{1} << 20U;

// Lines that are complete inside one piece of input are passed on in place; only a line that the
// end of a piece cuts is copied.
class LineSplitter {
 public:
  // Calls on_line(line) for every complete line, without its line break, and on_too_long(beginning)
  // once for each line above the limit.
  template <class OnLine, class OnTooLong>
  void feed(std::string_view bytes, OnLine&& on_line, OnTooLong&& on_too_long) {
    while (!bytes.empty()) {
      const auto* found = static_cast<const char*>(std::memchr(bytes.data(), '\n', bytes.size()));
      const bool complete = found != nullptr;
      const std::size_t size =
          complete ? static_cast<std::size_t>(found - bytes.data()) : bytes.size();
      const std::string_view part = bytes.substr(0, size);
      bytes.remove_prefix(complete ? size + 1 : size);
      if (!skipping_ && carry_.size() + part.size() > kMaxRecordBytes) {
        skipping_ = true;
        on_too_long(carry_.empty() ? part : std::string_view{carry_});
        carry_.clear();
      }
      if (!skipping_ && (!complete || !carry_.empty())) carry_.append(part);
      if (!complete) return;
      if (!skipping_) on_line(carry_.empty() ? part : std::string_view{carry_});
      carry_.clear();
      skipping_ = false;
    }
  }

  // The last line, which has no line break yet.
  std::string_view rest() const { return carry_; }
  // Returns and clears it.
  std::string take_rest() {
    skipping_ = false;
    return std::exchange(carry_, {});
  }

  void cut_back(std::size_t bytes) {
    carry_.resize(carry_.size() - std::min(bytes, carry_.size()));
  }

  // The bytes so far do not end with a line break.
  bool mid_line() const { return !carry_.empty() || skipping_; }

  void state(StateIo& io) {
    io(carry_);
    io(skipping_);
  }

 private:
  std::string carry_;
  bool skipping_ = false;  // inside a line that is too long
};

// Receives what RecordSplitter finds, in file order. All text is valid during the call only.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  // One complete object of the array, from '{' to '}'. Brackets are balanced; the rest is
  // unchecked.
  virtual void record(std::string_view text) = 0;
  // A member of the root object other than the events; value as raw text.
  virtual void member(std::string_view key, std::string_view value) = 0;
  virtual void rejected(RejectReason reason, std::string_view sample) = 0;
};

// The document is an array ("[ {...}, {...} ]"), or an object with that array under "traceEvents"
// and other members before and after it. After damage it finds the next record again: one record
// and one reject are lost, not the file.
class RecordSplitter {
 public:
  void feed(std::string_view bytes, RecordSink& sink);

  // The input has ended: a record that it cuts off is rejected.
  void finish(RecordSink& sink);

  // The writer removed the last `bytes` bytes.
  void cut_back(std::size_t bytes);

  // The end of the document was read. A writer that appends to an old file reopens it.
  bool closed() const { return closed_; }

  // The end of the document was read at some time: what came since is behind it.
  bool ended() const { return ended_; }

  // The document is an object that holds the array. Known before the first call of the sink.
  bool object_root() const { return object_root_; }

  // The bytes so far end inside an object of the array.
  bool mid_record() const { return mode_ == Mode::records && (!carry_.empty() || skipping_); }

  void state(StateIo& io);

 private:
  enum class Mode : std::uint8_t { start, members, records, resync, count_ };
  // What comes before a '{' that may begin the next record, see resync().
  enum class Before : std::uint8_t { nothing, line_break, object, object_and_comma };

  // Each handles a prefix of `bytes` and returns its length.
  std::size_t start(std::string_view bytes);
  std::size_t members(std::string_view bytes, RecordSink& sink);
  std::size_t records(std::string_view bytes, RecordSink& sink);
  std::size_t resync(std::string_view bytes);

  void end_record(std::string_view rest, RecordSink& sink);
  void keep(std::string_view part, RecordSink& sink);
  void reject_open_record(std::string_view rest, RejectReason reason, RecordSink& sink);
  void close_array();

  Mode mode_ = Mode::start;
  Before before_ = Before::nothing;
  bool object_root_ = false;
  bool closed_ = false;
  bool ended_ = false;
  bool skipping_ = false;  // inside a record that is too long, already rejected
  ScanState scan_;
  std::string carry_;  // the beginning of the open record
  DocumentMetadata metadata_;
  std::vector<RecordMark> marks_;  // reused
};

}  // namespace trainwatch
