// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/ends/run_note_reader.h"

#include <algorithm>
#include <string>
#include <utility>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/declared/scalar_text.h"
#include "pipeline/decode/ends/xid_line.h"
#include "pipeline/decode/evidence_text.h"
#include "pipeline/decode/flight_recorder/watchdog_line.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMostRaised = 64;

// Whose end is the whole job's, whoever says so.
bool is_of_job(EndClass what) {
  return what == EndClass::time_limit || what == EndClass::preempted ||
         what == EndClass::cancelled || what == EndClass::node_failure;
}

// An exception that a program only reports, in a line of its logger.
bool is_reported(const EndLine& read, std::string_view message) {
  const bool raises = read.what == EndClass::exception || read.what == EndClass::cuda_out_of_memory;
  if (!raises || read.weight < EndWeight::exception) return false;
  constexpr std::size_t kMostBeforeLevel = 96;
  constexpr std::string_view kLevels[] = {"WARNING", "[WARN", "WARN ", "INFO", "DEBUG"};
  return std::ranges::any_of(kLevels, [message](std::string_view level) {
    return find_text(message.substr(0, kMostBeforeLevel), level) != std::string_view::npos;
  });
}

}  // namespace

bool RunNoteReader::take(std::string_view line, SubjectId subject, EventBatch& out) {
  if (context_.run_notes == nullptr) return false;
  const bool has_literal = has_end_literal(line);
  const bool begins = OpenTracebacks::begins(line) || FailureTable::begins(line);
  const bool watched = find_text(line, kWatchdogLiteral) != std::string_view::npos;
  const bool harmless = begins_harmless_failure(line);
  if (!has_literal && !begins && !watched && !harmless && !follows()) return false;
  subject_ = subject;
  const PrefixedLine prefixed = read_line_prefix(line, context_.written);
  const std::string_view message = prefixed.message;
  if (harmless) {
    harmless_ = true;
    return false;
  }
  if (table_.is_open()) {
    if (table_.add(message, prefixed.at)) end_table(out);
    return false;
  }
  if (FailureTable::begins(message)) {
    table_.begin();
    return false;
  }
  if (OpenTracebacks::begins(message)) {
    tracebacks_.begin(prefixed.rank, std::exchange(harmless_, false));
    return false;
  }
  const OpenTracebacks::Line part = tracebacks_.add(prefixed.rank, message);
  const bool raised = part == OpenTracebacks::Line::exception;
  if (part == OpenTracebacks::Line::frame || part == OpenTracebacks::Line::harmless) return false;
  if (watched) take_watchdog(line, prefixed);
  const bool of_gpu = has_literal && take_xid(prefixed, out);
  auto read = has_literal ? read_end_line(message) : std::nullopt;
  if (!read && raised) {
    read = EndLine{.what = EndClass::exception, .weight = EndWeight::exception};
  }
  if (read && !raised && is_reported(*read, message)) read.reset();
  if (read && read->kind == RunNote::Kind::end_evidence) {
    take_end(*read, prefixed, out);
  } else if (read) {
    take_mark(*read, prefixed, out);
  }
  return of_gpu;
}

void RunNoteReader::completed(std::string_view line, double seconds, SubjectId subject,
                              EventBatch& out) {
  if (context_.run_notes == nullptr) return;
  subject_ = subject;
  take_mark({.kind = RunNote::Kind::completed, .seconds = seconds},
            read_line_prefix(line, context_.written), out);
}

// Its GPU is of the node, whoever prints the line.
bool RunNoteReader::take_xid(const PrefixedLine& line, EventBatch& out) {
  const auto read = read_xid_line(line.message);
  if (!read) return false;
  Subject about{context_.job, valid_name(line.node, SubjectTable::kLongestName), kNoRank,
                read->address};
  if (about.node.empty()) about.node = context_.default_node;
  const auto gpu = context_.interner.subjects.intern(about);
  if (!gpu) {
    context_.diagnostics.reject(context_.file, RejectReason::cardinality, line.message);
    return false;
  }
  RunNote note{.at = line.at.value_or(last_or_written()), .kind = RunNote::Kind::gpu_report};
  note.subject = *gpu;
  note.xid = read->error;
  note.xid->text = evidence_text(line.message);
  emit(std::move(note), out);
  return true;
}

// What is no end: those without a time that came before it are of the training.
void RunNoteReader::take_mark(const EndLine& read, const PrefixedLine& line, EventBatch& out) {
  before_record(line.at, out);
  if (line.at) last_ = *line.at;
  world_size_ = std::max(world_size_, read.world_size);
  if (last_ == kNoTime && read.world_size > 0) return;  // nothing says when that was
  RunNote note{.at = last_ != kNoTime ? last_ : last_or_written(), .kind = read.kind};
  note.seconds = read.seconds;
  if (read.begins) saves_since_ = line.at.value_or(kNoTime);
  if (read.ends && line.at) {
    const Time since = std::exchange(saves_since_, kNoTime);
    if (read.seconds < 0 && since != kNoTime) note.seconds = to_seconds(*line.at - since);
  }
  note.world_size = std::exchange(world_size_, 0);
  emit(std::move(note), out);
}

EndEvidence RunNoteReader::evidence_of(const EndLine& read, const PrefixedLine& line) const {
  EndEvidence evidence{.what = read.what, .weight = read.weight, .rank = read.rank};
  if (evidence.rank == kNoRank) evidence.rank = line.rank;
  if (evidence.rank == kNoRank) evidence.rank = rank_of_file();
  if (is_of_job(evidence.what)) evidence.rank = kNoRank;
  evidence.node = read.node.empty() ? line.node : read.node;
  if (evidence.node.empty()) evidence.node = context_.default_node;
  evidence.node = valid_name(evidence.node, SubjectTable::kLongestName);
  evidence.signal = read.signal;
  evidence.exit_code = read.exit_code;
  evidence.text = evidence_text(line.message);
  evidence.of_machine = read.of_machine;
  return evidence;
}

void RunNoteReader::take_end(const EndLine& read, const PrefixedLine& line, EventBatch& out) {
  EndEvidence evidence = evidence_of(read, line);
  if (read.what == EndClass::collective_timeout) return take_timeout(std::move(evidence), line);
  const bool first = std::ranges::find(raised_, evidence.rank, &EndEvidence::rank) == raised_.end();
  if (evidence.weight >= EndWeight::exception && first && raised_.size() < kMostRaised) {
    raised_.push_back(evidence);
  }
  emit_or_keep(std::move(evidence), line.at, out);
}

// How far a rank is, or that it has waited, in the group of all ranks.
void RunNoteReader::take_watchdog(std::string_view line, const PrefixedLine& prefixed) {
  const auto found = parse_watchdog_line(line);
  if (!found || !(found->group.empty() || found->is_of_world())) return;
  std::int32_t rank = context_.rank != kNoRank ? context_.rank : found->rank;
  if (rank == kNoRank) rank = prefixed.rank != kNoRank ? prefixed.rank : rank_of_file();
  if (rank == kNoRank) rank = found->group_rank;
  if (found->kind == WatchdogLine::Kind::progress) timeouts_.progress(rank, found->enqueued);
  if (found->kind == WatchdogLine::Kind::timeout) timeouts_.waited(rank);
  name_absent();
}

// One note for all ranks that have waited: it names the one that they waited for.
void RunNoteReader::take_timeout(EndEvidence evidence, const PrefixedLine& line) {
  if (line.at) last_ = *line.at;
  if (!timeout_) {
    timeout_ = RunNote{.at = line.at.value_or(kNoTime), .kind = RunNote::Kind::end_evidence};
    timeout_->subject = subject_of_file();
    timeout_->end = std::move(evidence);
    timeout_->end->rank = kNoRank;
    timeout_changed_ = true;
  }
  name_absent();
}

void RunNoteReader::name_absent() {
  if (!timeout_ || timeout_->end->rank == timeouts_.absent()) return;
  timeout_->end->rank = timeouts_.absent();
  timeout_changed_ = true;
}

void RunNoteReader::end_table(EventBatch& out) {
  auto cause = table_.take();
  if (!cause) return;
  name_cause(cause->end);
  raised_.clear();  // what follows is of the next attempt, or comes from this failure
  emit_or_keep(std::move(cause->end), cause->at, out);
}

// torchrun knows which rank was first, and its exit code; what the rank itself has said says more.
void RunNoteReader::name_cause(EndEvidence& root) const {
  const EndEvidence* own = nullptr;
  for (const EndEvidence& each : raised_) {
    const bool of_it = each.rank == root.rank || (each.rank == kNoRank && own == nullptr);
    const bool says_why = each.weight >= EndWeight::cause || !root.signal;
    if (of_it && says_why) own = &each;
  }
  if (timeout_) own = &*timeout_->end;
  if (own == nullptr) return;
  root.what = own->what;
  root.text = own->text;
  if (timeout_) root.rank = own->rank;
  if (is_of_job(root.what)) root.rank = kNoRank;
}

void RunNoteReader::emit_or_keep(EndEvidence evidence, std::optional<Time> at, EventBatch& out) {
  RunNote note{.at = at.value_or(kNoTime), .kind = RunNote::Kind::end_evidence};
  note.end = std::move(evidence);
  note.subject = subject_of_file();
  if (at) {
    last_ = last_ == kNoTime ? *at : std::max(last_, *at);
    settle(*at, out);
    return emit(std::move(note), out);
  }
  if (waiting_.size() < kMostWaiting) {
    waiting_.push_back({std::move(note), false});
    return;
  }
  note.at = last_or_written();
  emit(std::move(note), out);
}

// Those that wait are of this time.
void RunNoteReader::settle(Time at, EventBatch& out) {
  emit_timeout(out);
  for (Waiting& each : waiting_) {
    if (each.emitted && each.note.at == at) continue;
    each.note.at = at;
    emit(std::move(each.note), out);
  }
  waiting_.clear();
}

void RunNoteReader::emit_timeout(EventBatch& out) {
  if (!std::exchange(timeout_changed_, false)) return;
  RunNote note = *timeout_;
  if (note.at == kNoTime) note.at = last_or_written();
  emit(std::move(note), out);
}

void RunNoteReader::before_record(std::optional<Time> at, EventBatch& out) {
  if (waiting_.empty() && raised_.empty() && !timeout_) return;
  settle(last_ != kNoTime ? last_ : at.value_or(context_.written), out);
  raised_.clear();
  timeout_.reset();
  timeouts_.clear();
}

void RunNoteReader::end_of_bytes(EventBatch& out) {
  if (timeout_changed_) emit_timeout(out);
  for (Waiting& each : waiting_) {
    if (std::exchange(each.emitted, true)) continue;
    each.note.at = last_or_written();
    emit(each.note, out);
  }
}

void RunNoteReader::finish(EventBatch& out) {
  if (table_.is_open()) end_table(out);
  end_of_bytes(out);
}

void RunNoteReader::emit(RunNote note, EventBatch& out) {
  if (note.subject == SubjectId::none) note.subject = subject_of_file();
  if (note.end) note.end->file = context_.path;
  out.emplace_back(context_.run_notes->add(std::move(note)));
}

SubjectId RunNoteReader::subject_of_file() {
  if (subject_ != SubjectId::none) return subject_;
  Subject about{context_.job, "", rank_of_file(), ""};
  context_.fill_in(about);
  const auto id = context_.interner.subjects.intern(about);
  if (!id) context_.diagnostics.reject(context_.file, RejectReason::cardinality, context_.path);
  return id.value_or(SubjectId::none);
}

std::int32_t RunNoteReader::rank_of_file() const {
  return context_.rank != kNoRank ? context_.rank : rank_of_log(context_.path);
}

// The last write, unless that is of another day: files are copied and touched.
Time RunNoteReader::last_or_written() const {
  const Time written = context_.written;
  if (last_ == kNoTime) return written;
  const bool sane = written >= last_ && written < last_ + std::chrono::hours(24);
  return sane ? written : last_;
}

void RunNoteReader::state(StateIo& io) {
  io(last_);
  io(saves_since_);
  io(world_size_);
  io(tracebacks_);
  io(harmless_);
  io(table_);
  io(timeouts_);
  io(timeout_);
  io(timeout_changed_);
  io(raised_);
  io(waiting_);
  if (!io.is_loading()) return;
  const auto possible = [](const RunNote& note) {
    return note.kind == RunNote::Kind::end_evidence && note.end && is_possible(note.at);
  };
  const bool sound = is_possible(last_) && is_possible(saves_since_) &&
                     waiting_.size() <= kMostWaiting && raised_.size() <= kMostRaised &&
                     (!timeout_ || possible(*timeout_)) &&
                     std::ranges::all_of(waiting_, possible, &Waiting::note);
  if (!sound) io.fail();
  timeout_changed_ = timeout_changed_ && timeout_.has_value();
}

}  // namespace trainwatch
