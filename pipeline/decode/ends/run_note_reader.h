// SPDX-License-Identifier: Apache-2.0
// The lines of one console log that say how its run began, paused and ended -> RunNotes.
//
// A line without a time has that of the next one of a launcher, else of the training line before
// it, else of the last write. What is not known when the bytes end is emitted with the last write,
// so that an alert need not wait, and emitted again once a later line says more: a note about an
// end replaces the one with the same text and file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "pipeline/decode/decoder.h"
#include "pipeline/decode/ends/collective_timeouts.h"
#include "pipeline/decode/ends/end_line.h"
#include "pipeline/decode/ends/failure_table.h"
#include "pipeline/decode/ends/line_prefix.h"
#include "pipeline/decode/ends/open_tracebacks.h"
#include "trainwatch/run_note.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

class RunNoteReader {
 public:
  // Notes without a time; further ones are not emitted again.
  static constexpr std::size_t kMostWaiting = 64;

  // `context` outlives the object. Without its `run_notes` nothing is read.
  explicit RunNoteReader(const FileContext& context) : context_(context) {}

  // True: the next line belongs to what has begun, whether it has a literal or not.
  bool follows() const { return !tracebacks_.empty() || table_.is_open(); }
  // A line without colours that is no record. `subject`: of the file's records, or none.
  // True: it is a record by itself, of an error of a GPU.
  bool take(std::string_view line, SubjectId subject, EventBatch& out);
  // A line that says that the training has done what it was to do. `seconds`: how long it took;
  // < 0: the line does not say.
  void completed(std::string_view line, double seconds, SubjectId subject, EventBatch& out);
  // A record of the training comes: call before its events, with its time if it has one, and then
  // record() with that.
  void before_record(std::optional<Time> at, EventBatch& out);
  void record(Time at) {
    last_ = at;
    saves_since_ = kNoTime;
  }
  // The bytes so far, or those of the file, end.
  void end_of_bytes(EventBatch& out);
  void finish(EventBatch& out);
  void state(StateIo& io);

 private:
  struct Waiting {
    RunNote note;
    bool emitted = false;
  };

  void take_watchdog(std::string_view line, const PrefixedLine& prefixed);
  void take_end(const EndLine& read, const PrefixedLine& line, EventBatch& out);
  bool take_xid(const PrefixedLine& line, EventBatch& out);
  void take_mark(const EndLine& read, const PrefixedLine& line, EventBatch& out);
  void take_timeout(EndEvidence evidence, const PrefixedLine& line);
  void name_absent();
  void end_table(EventBatch& out);
  void name_cause(EndEvidence& root) const;
  EndEvidence evidence_of(const EndLine& read, const PrefixedLine& line) const;
  void emit_or_keep(EndEvidence evidence, std::optional<Time> at, EventBatch& out);
  void settle(Time at, EventBatch& out);
  void emit_timeout(EventBatch& out);
  void emit(RunNote note, EventBatch& out);
  SubjectId subject_of_file();
  std::int32_t rank_of_file() const;
  Time last_or_written() const;

  const FileContext& context_;
  SubjectId subject_ = SubjectId::none;  // of the line that is read
  Time last_ = kNoTime;                  // of the last record or line with a time
  Time saves_since_ = kNoTime;           // the checkpoint being saved, if any
  std::uint32_t world_size_ = 0;         // that a line without a time said before any other
  OpenTracebacks tracebacks_;
  bool harmless_ = false;  // the next traceback ends nothing
  FailureTable table_;
  CollectiveTimeouts timeouts_;
  std::optional<RunNote> timeout_;   // at kNoTime: its line has none
  bool timeout_changed_ = false;     // since it was emitted
  std::vector<EndEvidence> raised_;  // exceptions and causes since the last record, one of a rank
  std::vector<Waiting> waiting_;     // have no time of their own
};

}  // namespace trainwatch
