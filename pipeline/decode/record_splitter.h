// SPDX-License-Identifier: Apache-2.0
// Cuts a growing trace document into the objects of its array of events. The result is independent
// of how the bytes are cut.
//
// The document is an array ("[ {...}, {...} ]"), or an object with that array under "traceEvents"
// and other members before and after it. Every byte is accounted for, and after damage the next
// record is found again: what is lost is the damaged record, with what its brackets or quotes make
// it swallow, as long as that shows no layout of a record.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/decode/byte_account.h"
#include "pipeline/decode/decoder.h"
#include "pipeline/decode/document_metadata.h"
#include "pipeline/decode/json_scanner.h"
#include "pipeline/decode/line_splitter.h"
#include "pipeline/decode/record_start.h"
#include "pipeline/decode/short_text.h"
#include "trainwatch/diagnostics.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

// Receives what RecordSplitter finds, in file order. All text is valid during the call only.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  // One complete object of the array, from '{' to '}'. Brackets are balanced; the rest is checked
  // only in records that are long. rejected() follows if the answer is not nullopt.
  virtual Rejection record(std::string_view text) = 0;
  // A member of the root object other than the events; value as raw text.
  virtual void member(std::string_view key, std::string_view value) = 0;
  // A record, or what stands between records and should not.
  virtual void rejected(RejectReason reason, std::string_view sample) = 0;
};

class RecordSplitter {
 public:
  void feed(std::string_view bytes, RecordSink& sink);

  // The input has ended: a record that it cuts off is rejected.
  void finish(RecordSink& sink);

  // The writer removed the last `bytes` bytes.
  void cut_back(std::size_t bytes);

  // The end of the document was read, and nothing but white space since. A writer that appends to
  // an old file, or a ']' too many, reopens it.
  bool closed() const { return closed_; }

  // What came last belongs to no document or to another one: this one ended before.
  bool ended() const { return ended_; }

  // The document is an object that holds the array. Known before the first call of the sink.
  bool object_root() const { return object_root_; }

  // The bytes so far end inside an object of the array.
  bool mid_record() const { return mode_ == Mode::records && !carry_.empty(); }

  // All bytes but those of what is open: a record, a member, or what may be the beginning of one.
  ByteAccount bytes() const;

  void state(StateIo& io);

 private:
  enum class Mode : std::uint8_t {
    start,      // before the root
    members,    // of the root object
    records,    // of the array
    resync,     // looking for a record by layout
    array_end,  // after a ']' that may be the end of the array
    tail,       // after the root object
    count_
  };
  // What came last between two records.
  enum class Separator : std::uint8_t { bracket, record, comma, count_ };

  // Where damage was, little is scanned at once, so that little is scanned in vain.
  static constexpr std::size_t kSmallWindow = 256;
  static constexpr std::size_t kMostKeptMarks = 16;

  // Each handles a prefix of `bytes` and returns its length. It may be nothing if again_ is not.
  std::size_t take(std::string_view bytes, RecordSink& sink);
  std::size_t start(std::string_view bytes, RecordSink& sink);
  std::size_t members(std::string_view bytes, RecordSink& sink);
  std::size_t records(std::string_view bytes, RecordSink& sink);
  std::size_t resync(std::string_view bytes);
  std::size_t array_end(std::string_view bytes, RecordSink& sink);
  std::size_t tail(std::string_view bytes, RecordSink& sink);

  // What stands between most records is compared as a whole.
  bool take_usual_gap(std::string_view between) {
    if (separator_ != Separator::record || between.size() != usual_gap_.size()) return false;
    if (!same_bytes(between.data(), usual_gap_.data(), between.size())) return false;
    account_.structure += between.size();
    separator_ = Separator::comma;
    return true;
  }

  void begin_events();
  void end_of_root();
  std::size_t before_record(std::string_view between, RecordSink& sink);
  std::size_t behind_records(std::string_view bytes, std::size_t at, const ScanResult& result,
                             RecordSink& sink);
  std::size_t gap(std::string_view bytes, RecordSink& sink);
  bool separator(char c, RecordSink& sink);
  std::size_t end_of_piece(std::string_view bytes, std::size_t size, std::size_t open,
                           RecordSink& sink);

  // record_splitter_damage.cc
  bool is_suspicious(std::size_t size);
  bool complete(std::string_view text, RecordSink& sink);
  std::size_t broken(std::string_view bytes, std::size_t begin, std::size_t end,
                     RejectReason reason, RecordSink& sink);
  std::size_t read_again(std::string_view bytes, std::size_t begin, std::size_t end, bool ended);
  void begin_record(const std::string& held);
  void damaged_member(RejectReason reason, RecordSink& sink);
  void garbage(std::string_view sample, RecordSink& sink);
  std::size_t lost(std::string_view bytes, std::size_t at, RecordSink& sink);
  void seek(RecordStart layout);

  Mode mode_ = Mode::start;
  Separator separator_ = Separator::bracket;
  bool object_root_ = false;
  bool closed_ = false;
  bool ended_ = false;
  bool has_events_ = false;  // the array has begun
  bool foreign_ = false;     // another document follows
  bool damaged_ = false;     // a reject was counted, and nothing good was read since
  ScanState scan_;
  RecordStart layout_;        // in resync
  std::string carry_;         // the beginning of the open record
  std::uint64_t member_ = 0;  // bytes of the open member
  DocumentMetadata metadata_;
  ByteAccount account_;
  std::string usual_gap_;          // between two records; not needed, but quick to compare with
  std::uint64_t usual_ = 0;        // length of a record, times kUsualRecords
  std::string again_;              // to be read before anything else; empty between calls
  std::size_t window_ = 0;         // bytes to scan at once, fewer after damage
  std::vector<RecordMark> marks_;  // reused
};

}  // namespace trainwatch
