// Cuts a growing trace document into records: the objects of its one array of events. The document
// is that array ("[ {...}, {...} ]"), or an object with that array under "traceEvents" and other
// members before and after it.
//
// Finds the next record again after damage: one record and one reject are lost, not the file.
// Result is independent of how the bytes are cut.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/decode/json_scanner.h"
#include "pipeline/decode/root_members.h"
#include "trainwatch/diagnostics.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

// Hears what the splitter found, in file order. All text is valid during the call only.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  // One complete object of the array: '{' to '}', brackets balanced, otherwise unseen.
  virtual void record(std::string_view text) = 0;
  // A member of the root object other than the events; value as raw text.
  virtual void member(std::string_view key, std::string_view value) = 0;
  virtual void rejected(RejectReason reason, std::string_view sample) = 0;
};

class RecordSplitter {
 public:
  void feed(std::string_view bytes, RecordSink& sink);

  // The input is over: a record cut off by it is rejected.
  void finish(RecordSink& sink);

  // The last `bytes` bytes were taken back by the writer.
  void cut_back(std::size_t bytes);

  // The end of the document was read. A writer that appends to an old file opens it again.
  bool closed() const { return closed_; }

  // The document is an object with the array in it. Known before the first call of the sink.
  bool object_root() const { return object_root_; }

  // The bytes so far end inside an object of the array.
  bool mid_record() const { return mode_ == Mode::records && (!carry_.empty() || skipping_); }

  void state(StateIo& io);

 private:
  enum class Mode : std::uint8_t { start, members, records, resync, count_ };
  // What stood before a '{' that may begin a record again, see resync().
  enum class Before : std::uint8_t { nothing, line_break, object, object_and_comma };

  // Each handles a prefix of `bytes` and answers how long it was.
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
  bool skipping_ = false;  // inside a record that is too long, already rejected
  ScanState scan_;
  std::string carry_;  // the beginning of the open record
  RootMembers root_;
  std::vector<RecordMark> marks_;  // reused
};

}  // namespace trainwatch
