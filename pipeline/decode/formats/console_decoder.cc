// SPDX-License-Identifier: Apache-2.0
// What a training job prints: scalars in lines of the console presets, between any other text. Each
// line is read for itself, so that a text may have lines of several presets. Of lines that no
// preset knows the names of their numbers decide (declared/guessed_lines), as long as no preset has
// read a few losses.
//
// A carriage return ends a line too: progress bars draw themselves again and again without any
// line break. Lines of more than 8 KiB are none of ours. The last line counts when it has ended.
#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/declared/day_clock.h"
#include "pipeline/decode/declared/declared_formats.h"
#include "pipeline/decode/declared/guessed_lines.h"
#include "pipeline/decode/declared/joined_lines.h"
#include "pipeline/decode/declared/known_lines.h"
#include "pipeline/decode/declared/line_ends.h"
#include "pipeline/decode/declared/literal_search.h"
#include "pipeline/decode/declared/progress_bar.h"
#include "pipeline/decode/declared/record_emitter.h"
#include "pipeline/decode/declared/scalar_text.h"
#include "pipeline/decode/ends/line_prefix.h"
#include "pipeline/decode/ends/run_note_reader.h"
#include "pipeline/decode/flight_recorder/flight_dump.h"
#include "pipeline/decode/flight_recorder/watchdog_line.h"
#include "pipeline/decode/format.h"
#include "pipeline/decode/path_metadata.h"
#include "pipeline/tail/candidate.h"
#include "pipeline/tail/lane.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMaxConsoleLine = 8192;
constexpr int kMostBlockLines = 256;
// Records with a loss that a preset has read: the text is known, and nothing is guessed any more.
constexpr std::uint64_t kEnoughLosses = 3;
// What launchers print when a job has ended: Slurm, and torchrun after its last attempt.
constexpr std::string_view kEndsOfJobs[] = {"slurmstepd: error: *** ", "ChildFailedError"};
// What lines that are guessed at have.
constexpr std::string_view kGuessed[] = {"loss",   "Loss", "LOSS",  "step",  "Step",
                                         "iter",   "Iter", "epoch", "Epoch", "EPOCH",
                                         "pisode", "it [", "Test ", "Valid", "Eval"};

bool ends_a_job(std::string_view line) {
  return std::ranges::any_of(kEndsOfJobs, [line](std::string_view text) {
    return find_text(line, text) != std::string_view::npos;
  });
}

// What a loop of one's own prints when it has done its work.
constexpr std::string_view kDone[] = {"raining finished", "raining complete", "raining done",
                                      "Finished training", "raining is complete"};

bool says_when(ScalarKind kind) {
  return kind == ScalarKind::step_seconds || kind == ScalarKind::steps_per_second ||
         kind == ScalarKind::elapsed_seconds;
}

// "ts=1790000006.5"
std::string_view without_key(std::string_view word) {
  for (const std::string_view key : {"ts=", "time=", "timestamp=", "t="}) {
    if (word.starts_with(key)) return word.substr(key.size());
  }
  return word;
}

// And not "Training finished for epoch 3".
bool says_training_is_done(std::string_view line) {
  constexpr std::size_t kLongestRest = 24;
  return std::ranges::any_of(kDone, [line](std::string_view text) {
    const std::size_t at = find_text(line, text);
    return at != std::string_view::npos && line.size() - at - text.size() <= kLongestRest &&
           line.find("poch", at) == std::string_view::npos;
  });
}

class ConsoleDecoder final : public Decoder {
 public:
  explicit ConsoleDecoder(const FileContext& context)
      : context_(context),
        formats_(DeclaredFormats::or_presets(context.declared)),
        lines_(formats_.lines()),
        emitter_(context),
        notes_(context) {
    search_for_literals();
  }

  void feed(std::string_view bytes, EventBatch& out) override;
  void finish(EventBatch& out) override {
    finished_ = true;
    emit_pending(out);
    notes_.finish(out);
  }
  void cut_back(std::size_t bytes) override {
    carry_.resize(carry_.size() - std::min(bytes, carry_.size()));
  }
  bool complete() const override { return false; }
  bool mid_record() const override { return !carry_.empty(); }
  void state(StateIo& io) override;
  std::uint64_t records() const override { return records_; }
  std::string_view declared() const override;
  ByteAccount bytes() const override {
    ByteAccount all = account_;
    if (finished_) all.structure += carry_.size();
    return all;
  }

 private:
  // What is known of a format in this text.
  struct Seen {
    std::uint64_t records = 0;
    std::uint64_t losses = 0;  // records with one
    RecordSteps steps;
    EpochSteps epochs;

    void state(StateIo& io) {
      io(records);
      io(losses);
      io(steps);
      io(epochs);
    }
  };
  // A record whose values stand in the lines that follow.
  struct Block {
    std::size_t format = 0;
    int lines_left = 0;  // 0: no block is open
    std::int64_t step = kNoStep;
    std::int32_t rank = kNoRank;
    std::optional<Time> at;

    void state(StateIo& io) {
      io(format);
      io(lines_left);
      io(step);
      io(rank);
      io(at);
    }
  };

  void search_for_literals();
  bool is_seen(std::size_t format) const {
    const auto found = seen_.find(format);
    return found != seen_.end() && found->second.records > 0;
  }
  void read(std::string_view bytes, EventBatch& out);
  void read_begun(std::string_view part, EventBatch& out);
  void scan(std::string_view lines, EventBatch& out);
  bool in_block() const { return notes_.follows() || block_.lines_left > 0; }
  bool follows() const { return in_block() || joined_.is_open(); }
  bool line(std::string_view text, EventBatch& out);
  void keep(std::string_view part);
  bool take_bar(std::string_view text);
  void emit_bar(EventBatch& out);
  bool take_watchdog(std::string_view text);
  const LineLayout* layout_of(std::string_view text);
  void take_record(std::string_view text, const LineLayout& layout, EventBatch& out);
  bool is_step_of_record(const RecordSteps& steps) const;
  void note_seen(std::size_t format, bool loss);
  void emit(std::string_view text, const LineLayout& layout, EventBatch& out);
  bool emit_other_losses(std::string_view text, const FormatDeclaration& format, EventBatch& out);
  void emit_pending(EventBatch& out);
  void emit_time_of_day(std::string_view text, EventBatch& out);
  void open_block(std::size_t format, const DeclaredRecord& record);
  bool take_block(std::string_view text, EventBatch& out);
  void note_headline();
  bool take_guessed(std::string_view text, EventBatch& out);
  void emit_guessed(std::string_view text, const GuessedLine& read, GuessedForm& form,
                    EventBatch& out);
  bool take_other(std::string_view text, EventBatch& out);
  std::optional<double> runtime_when_done(std::string_view text) const;
  bool take_end(std::string_view text, bool done, EventBatch& out);
  void place_in_time(std::string_view text, std::string_view own, DeclaredRecord& record);
  SubjectId subject() const { return emitter_.has_begun() ? emitter_.subject() : SubjectId::none; }
  std::string_view without_colours(std::string_view text);

  const FileContext& context_;
  const DeclaredFormats& formats_;
  KnownLines lines_;
  std::map<std::size_t, Seen> seen_;  // the formats of lines in this text
  RecordEmitter emitter_;
  RunNoteReader notes_;
  std::string carry_;      // the line that has not ended
  bool skipping_ = false;  // it is too long
  bool finished_ = false;
  bool guesses_ = true;
  std::uint64_t records_ = 0;
  std::uint64_t guessed_records_ = 0;
  ByteAccount account_;
  std::string pending_;  // a record without a step of its own: the next bar has it
  ProgressBar bar_;
  Block block_;
  JoinedLines joined_;
  DayClock day_clock_;
  std::int64_t epoch_ = kNoStep;  // of the line "Epoch 3/10" that came last
  GuessedLines guessed_;
  std::int64_t guessed_step_ = kNoStep;  // of the last of them
  GuessedLine guess_;                    // reused
  std::vector<HeldLine> held_;           // reused
  std::shared_ptr<const LiteralSearch> literals_;
  LocalClock clock_;
  std::string plain_;  // reused: a line without its colours
};

// Those of every format; of those that were seen also what is between their records.
void ConsoleDecoder::search_for_literals() {
  std::vector<std::string_view> literals;
  const auto add = [&literals](const auto& some) {
    literals.insert(literals.end(), std::begin(some), std::end(some));
  };
  bool any = false;
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const FormatDeclaration& format = lines_.declaration(i);
    add(format.has);
    if (!is_seen(i)) continue;
    any = true;
    add(format.end);
    add(format.marks);
  }
  if (any) add(kEndsOfJobs);
  if (guesses_) add(kGuessed);
  add(kDone);
  add(JoinedLines::kLiterals);
  literals.push_back("Epoch ");
  literals.push_back(kBarLiteral);
  literals.push_back(kWatchdogLiteral);
  literals.insert(literals.end(), end_literals().begin(), end_literals().end());
  literals_ = context_.searches != nullptr ? context_.searches->of(literals)
                                           : std::make_shared<const LiteralSearch>(literals);
}

std::string_view ConsoleDecoder::declared() const {
  const auto most =
      std::ranges::max_element(seen_, {}, [](const auto& seen) { return seen.second.records; });
  if (most == seen_.end() || most->second.records <= guessed_records_) {
    return guessed_records_ > 0 ? "guessed_text" : "";
  }
  return lines_.declaration(most->first).name;
}

void ConsoleDecoder::feed(std::string_view bytes, EventBatch& out) {
  finished_ = false;
  read(bytes, out);
  notes_.end_of_bytes(out);
}

void ConsoleDecoder::read(std::string_view bytes, EventBatch& out) {
  if (!carry_.empty() || skipping_) {
    const std::size_t end = line_end(bytes);
    if (end == std::string_view::npos) {
      keep(bytes);
      if (!pending_.empty() && take_bar(without_colours(carry_))) emit_pending(out);
      return;
    }
    read_begun(bytes.substr(0, end), out);
    bytes.remove_prefix(end + 1);
  }
  const std::size_t last = last_line_end(bytes);
  if (last != std::string_view::npos) {
    scan(bytes.substr(0, last + 1), out);
    bytes.remove_prefix(last + 1);
  }
  keep(bytes);
  if (!pending_.empty() && take_bar(without_colours(carry_))) emit_pending(out);
}

// The end of the line that has begun, and the byte behind it.
void ConsoleDecoder::read_begun(std::string_view part, EventBatch& out) {
  keep(part);
  const bool seen = !skipping_ && (follows() || literals_->find(carry_) != std::string_view::npos);
  const bool record = seen && line(carry_, out);
  (record ? account_.records : account_.structure) += carry_.size();
  ++account_.structure;
  carry_.clear();
  skipping_ = false;
}

void ConsoleDecoder::keep(std::string_view part) {
  if (!skipping_ && carry_.size() + part.size() <= kMaxConsoleLine) {
    carry_.append(part);
    return;
  }
  skipping_ = true;
  account_.structure += carry_.size() + part.size();
  carry_.clear();
}

// Only lines with one of the literals are looked at, so that it must not matter how others end.
void ConsoleDecoder::scan(std::string_view lines, EventBatch& out) {
  std::uint64_t record_bytes = 0;
  for (std::size_t from = 0; from < lines.size();) {
    const std::size_t hit = follows() ? from : literals_->find(lines, from);
    if (hit == std::string_view::npos) break;
    const std::size_t before = last_line_end(lines.substr(from, hit - from));
    const std::size_t begin = before == std::string_view::npos ? from : from + before + 1;
    const std::size_t end = line_end(lines, hit);
    const bool fits = end - begin <= kMaxConsoleLine;
    if (fits && line(lines.substr(begin, end - begin), out)) record_bytes += end - begin;
    from = end + 1;
  }
  account_.records += record_bytes;
  account_.structure += lines.size() - record_bytes;
}

// A line with a literal, or one of a block. True if it is a record.
bool ConsoleDecoder::line(std::string_view text, EventBatch& out) {
  text = without_colours(text);
  if (!in_block()) {
    const JoinedLines::Part part = joined_.take(text);
    if (part == JoinedLines::Part::more) return false;
    if (part == JoinedLines::Part::whole) text = joined_.text();
  }
  const LineLayout* layout = lines_.recall(text);
  if (layout == nullptr) {
    if (take_watchdog(text)) {
      notes_.take(text, subject(), out);
      return true;
    }
    take_bar(text);
  }
  emit_pending(out);
  if (layout == nullptr) layout = layout_of(text);
  if (layout != nullptr) {
    take_record(text, *layout, out);
    return true;
  }
  return take_block(text, out) || take_guessed(text, out) || take_other(text, out);
}

// Null: the line is no record. A line with a bar or with a message of the watchdog is read as a
// whole each time.
const LineLayout* ConsoleDecoder::layout_of(std::string_view text) {
  const bool alone = find_text(text, kBarLiteral) == std::string_view::npos &&
                     find_text(text, kWatchdogLiteral) == std::string_view::npos;
  return lines_.read(text, alone);
}

void ConsoleDecoder::take_record(std::string_view text, const LineLayout& layout, EventBatch& out) {
  ++records_;
  block_.lines_left = 0;
  const FormatDeclaration& format = lines_.declaration(layout.format);
  const bool by_bar = format.step_from_bar && bar_.step != kNoStep;
  if (by_bar) note_seen(layout.format, false);
  if (by_bar && !is_step_of_record(seen_[layout.format].steps)) {
    pending_ = text;
  } else {
    emit(text, layout, out);
  }
}

// The bar before a record has its step for sure: it is the last one, or as far from the record
// before as that one was from its own.
bool ConsoleDecoder::is_step_of_record(const RecordSteps& steps) const {
  const bool regular = steps.interval > 1 && steps.last + steps.interval == bar_.step;
  return bar_.step >= bar_.total || regular;
}

void ConsoleDecoder::note_seen(std::size_t format, bool loss) {
  Seen& seen = seen_[format];
  const bool first = seen.records++ == 0;
  seen.losses += loss ? 1 : 0;
  const bool known = guesses_ && seen.losses >= kEnoughLosses;
  guesses_ = guesses_ && !known;
  if (first || known) search_for_literals();
}

void ConsoleDecoder::emit_pending(EventBatch& out) {
  if (pending_.empty()) return;
  const std::string text = std::exchange(pending_, {});
  if (const LineLayout* const layout = lines_.read(text, false)) emit(text, *layout, out);
}

// A line that is no record. True: it says that the training has ended.
bool ConsoleDecoder::take_other(std::string_view text, EventBatch& out) {
  const auto runtime = emitter_.has_begun() ? runtime_when_done(text) : std::nullopt;
  if (runtime) {
    notes_.completed(text, *runtime, subject(), out);
  } else if (notes_.take(text, subject(), out)) {
    ++records_;
    return true;
  }
  return take_end(text, runtime.has_value(), out);
}

// Of a line that says that the training has ended: how many seconds it took; < 0: it does not say.
// nullopt: it is no such line.
std::optional<double> ConsoleDecoder::runtime_when_done(std::string_view text) const {
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const FormatDeclaration& format = lines_.declaration(i);
    if (!is_seen(i)) continue;
    for (const std::string& literal : format.end) {
      const std::size_t at = find_text(text, literal);
      if (at == std::string_view::npos) continue;
      if (!format.end_has_runtime) return -1;
      return scalar_at(text.substr(at + literal.size()), ScalarKind::elapsed_seconds).value_or(-1);
    }
  }
  return says_training_is_done(text) ? std::optional(-1.0) : std::nullopt;
}

// The training of the rank whose record came last has ended, well or not: a note says how.
bool ConsoleDecoder::take_end(std::string_view text, bool done, EventBatch& out) {
  if (!emitter_.has_begun() || (!done && !ends_a_job(text))) return false;
  out.emplace_back(SourceNote{emitter_.at(), context_.lane, SourceNote::Kind::timeline_closed,
                              emitter_.subject()});
  return true;
}

// tqdm draws its bar again after each record, and at most ten times a second otherwise, so that the
// one before a record may be old. An evaluation has a bar of its own, with fewer steps.
//
// Where the bar is not drawn again the one behind is of the next step. Then the record is of the
// step before it, if that one is a round number, as steps are logged in.
bool ConsoleDecoder::take_bar(std::string_view text) {
  const auto bar = read_progress_bar(text);
  if (!bar || bar->total < bar_.total) return false;
  constexpr int kRound = 5;
  const bool next = !pending_.empty() && bar->step == bar_.step + 1;
  const bool before = next && bar_.step % kRound == 0 && bar->step % kRound != 0;
  if (before) return true;
  bar_ = *bar;
  return true;
}

// What a bar says beside the record whose step it has.
void ConsoleDecoder::emit_bar(EventBatch& out) {
  static const DeclaredField kTotal{.key = "total_steps", .kind = ScalarKind::total_steps};
  static const DeclaredField kRate{
      .key = "s/it", .kind = ScalarKind::step_seconds, .interval = true};
  emitter_.emit(kTotal, emitter_.tag_of(kTotal), static_cast<double>(bar_.total), out);
  if (bar_.seconds <= 0) return;
  emitter_.emit(kRate, emitter_.tag_of(kRate), bar_.seconds, out);
}

// Who waits for a collective. The rank of the job is that of the file, or of the line's prefix;
// what NCCL calls the rank counts within its group.
bool ConsoleDecoder::take_watchdog(std::string_view text) {
  auto found = parse_watchdog_line(text);
  if (!found) return false;
  ++records_;
  if (context_.rank != kNoRank) found->rank = context_.rank;
  if (found->rank == kNoRank) found->rank = rank_of_line(text);
  if (found->rank == kNoRank) found->rank = rank_of_log(context_.path);
  if (found->rank == kNoRank && (found->group.empty() || found->is_of_world())) {
    found->rank = found->group_rank;
  }
  if (found->rank == kNoRank || context_.dumps == nullptr) return true;
  found->at = time_without_year(watchdog_clock(text), context_.written).value_or(context_.written);
  context_.dumps->watchdog(context_.job, std::move(*found));
  return true;
}

// Time and rank. `own`: the time as the format finds it in the line; empty: wherever loggers write
// it.
void ConsoleDecoder::place_in_time(std::string_view text, std::string_view own,
                                   DeclaredRecord& record) {
  const bool prefixed = own.empty() || (!text.empty() && is_digit(text.front()));
  const PrefixedLine line = prefixed ? read_line_prefix(text, context_.written) : PrefixedLine{};
  record.rank = prefixed ? line.rank : rank_of_line(text);
  record.at = line.at;
  // "1790000006.5 step 3"
  if (own.empty() && !record.at)
    record.at = clock_.read_any(without_key(line.message.substr(0, line.message.find(' '))));
  if (own.empty()) return;
  record.at = clock_.read(own);
  if (!record.at) record.at = clock_.read_any(own);
}

void ConsoleDecoder::emit(std::string_view text, const LineLayout& layout, EventBatch& out) {
  const LinePattern& pattern = lines_.pattern(layout.format);
  const FormatDeclaration& format = pattern.declaration();
  const std::int64_t epoch = format.epoch_from_line ? epoch_ : kNoStep;
  DeclaredRecord record;
  record.step = bar_.step;
  if (!format.step_from_bar) {
    const EpochPlace place = pattern.place(text, layout, epoch);
    record.step = seen_[layout.format].epochs.step_of(place, format.first_epoch);
    record.of_epoch = place.count == kNoStep;
  }
  place_in_time(text, layout.time.of(text), record);
  notes_.before_record(record.at, out);
  if (format.block) open_block(layout.format, record);
  bool begun = false;
  bool loss = false;
  bool evaluates = false;
  bool has_clock = false;
  for (std::size_t i = 0; i < format.fields.size(); ++i) {
    const DeclaredField& field = format.fields[i];
    const auto value = pattern.value(i, text, layout);
    if (!value) continue;
    if (!begun && !emitter_.begin(record, text, seen_[layout.format].steps)) break;
    begun = true;
    loss = loss || field.kind == ScalarKind::loss;
    evaluates = evaluates || field.kind == ScalarKind::validation_loss;
    has_clock = has_clock || says_when(field.kind);
    emitter_.emit(field, emitter_.tag_of(field), *value, out);
  }
  if (begun && !has_clock) emit_time_of_day(text, out);
  if (format.others && begun) loss = emit_other_losses(text, format, out) || loss;
  if (!format.step_from_bar || bar_.step == kNoStep) {
    note_seen(layout.format, loss);
  } else if (begun) {
    emit_bar(out);
  }
  if (!loss && evaluates) notes_.take(text, subject(), out);
  if (begun && emitter_.is_timed()) notes_.record(emitter_.at());
}

// True: there are some.
bool ConsoleDecoder::emit_other_losses(std::string_view text, const FormatDeclaration& format,
                                       EventBatch& out) {
  bool any = false;
  read_guessed_line(text, guess_);
  for (const GuessedValue& value : guess_.values) {
    if (value.meaning.kind != ScalarKind::loss) continue;
    OtherTag* const tag = emitter_.other_tag(value.name, &format);
    if (tag == nullptr) continue;
    emitter_.emit_other(*tag, value.value, false, out);
    any = true;
  }
  return any;
}

// Of a line without a date.
void ConsoleDecoder::emit_time_of_day(std::string_view text, EventBatch& out) {
  static const DeclaredField kClock{.key = "time of day", .kind = ScalarKind::elapsed_seconds};
  if (emitter_.is_timed()) return;
  const auto seconds = day_clock_.read(text);
  if (!seconds) return;
  emitter_.emit(kClock, emitter_.tag_of(kClock), *seconds, out);
}

void ConsoleDecoder::open_block(std::size_t format, const DeclaredRecord& record) {
  block_ = {format, kMostBlockLines, record.step, record.rank, record.at};
}

// "    train/loss=2.31", "Mean value loss: 0.02"; lines that say nothing do not end the block.
bool ConsoleDecoder::take_block(std::string_view text, EventBatch& out) {
  if (block_.lines_left == 0) return false;
  --block_.lines_left;
  const std::string_view trimmed =
      text.substr(std::min(text.find_first_not_of(" \t#*-|="), text.size()));
  if (trimmed.empty()) return true;
  const std::size_t sign = trimmed.find_first_of(":=");
  const bool pair = sign != std::string_view::npos && !is_digit(trimmed.front()) &&
                    begins_with_scalar(trimmed.substr(sign + 1));
  if (!pair) {
    block_.lines_left = 0;
    return false;
  }
  const FormatDeclaration& format = lines_.declaration(block_.format);
  const std::string_view name = trimmed.substr(0, trimmed.find_last_not_of(' ', sign - 1) + 1);
  const auto field = std::ranges::find(format.fields, name, &DeclaredField::key);
  const OtherTag* const other =
      field == format.fields.end() ? emitter_.other_tag(name, &format) : nullptr;
  if (field == format.fields.end() && other == nullptr) return true;
  const DeclaredField& meaning = other != nullptr ? other->meaning : *field;
  const auto value = scalar_at(trimmed.substr(sign + 1), meaning.kind);
  const DeclaredRecord record{block_.step, block_.rank, block_.at};
  if (!value || !emitter_.begin(record, text, seen_[block_.format].steps)) return true;
  const Symbol tag = other != nullptr ? other->symbol : emitter_.tag_of(meaning);
  emitter_.emit(meaning, tag, *value, out);
  if (meaning.kind == ScalarKind::loss) ++seen_[block_.format].losses;
  return true;
}

// "Epoch 3/10"; a headline that counts only steps leaves the epoch as it was.
void ConsoleDecoder::note_headline() {
  if (guess_.is_headline() && guess_.epoch.is_known()) epoch_ = guess_.epoch.number;
}

bool ConsoleDecoder::take_guessed(std::string_view text, EventBatch& out) {
  if (!guesses_) {
    if (find_text(text, "Epoch ") != std::string_view::npos && text.size() < 64) {
      read_guessed_line(text, guess_);
      note_headline();
    }
    return false;
  }
  GuessedForm* const form = guessed_.take(text, guess_, held_);
  note_headline();
  if (form == nullptr) return false;
  if (held_.empty()) {
    emit_guessed(text, guess_, *form, out);
    return true;
  }
  for (const HeldLine& held : held_) {
    GuessedLines::read_again(held, guess_);
    emit_guessed(held.text, guess_, *form, out);
  }
  return true;
}

void ConsoleDecoder::emit_guessed(std::string_view text, const GuessedLine& read, GuessedForm& form,
                                  EventBatch& out) {
  DeclaredRecord record;
  // What sums up an epoch, or an evaluation, belongs to the step before it.
  const bool sums_up = form.is_summary && guessed_step_ != kNoStep;
  record.step = read.evaluates || sums_up ? guessed_step_ : form.step_of(read);
  guessed_step_ = record.step;
  record.of_epoch = !read.count.is_known();
  place_in_time(text, {}, record);
  record.guessed = true;
  notes_.before_record(record.at, out);
  if (!emitter_.begin(record, text, form.steps)) return;
  ++records_;
  ++guessed_records_;
  for (const GuessedValue& value : read.values) {
    const std::string name = (form.is_summary       ? "epoch/"
                              : value.of_evaluation ? "validation/"
                                                    : "") +
                             std::string(value.name);
    OtherTag* const tag = emitter_.other_tag(name);
    if (tag == nullptr) continue;
    if (tag->time) {
      emitter_.emit_other(*tag, value.value, value.in_ms, out);
      continue;
    }
    DeclaredField meaning;
    meaning.kind = value.meaning.kind;
    meaning.interval = ScalarMeaning{meaning.kind}.is_mean();
    emitter_.emit(meaning, tag->symbol, value.value, out);
  }
  const bool trains =
      !read.evaluates && std::ranges::none_of(read.values, &GuessedValue::of_evaluation);
  const bool is_total = !read.epoch.is_known() || form.counts_over_all();
  if (trains && read.count.of > 0 && is_total) {
    static const DeclaredField kTotal{.key = "total_steps", .kind = ScalarKind::total_steps};
    emitter_.emit(kTotal, emitter_.tag_of(kTotal), static_cast<double>(read.count.of), out);
  }
  emit_time_of_day(text, out);
  if (emitter_.is_timed()) notes_.record(emitter_.at());
}

// Without "ESC[31m" and "ESC[K".
std::string_view ConsoleDecoder::without_colours(std::string_view text) {
  std::size_t escape = text.find('\x1b');
  if (escape == std::string_view::npos) return text;
  plain_.clear();
  while (escape != std::string_view::npos) {
    plain_.append(text.substr(0, escape));
    const std::size_t end = text.find_first_not_of("[?;0123456789", escape + 1);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    escape = text.find('\x1b');
  }
  return plain_.append(text);
}

void ConsoleDecoder::state(StateIo& io) {
  io(carry_);
  io(skipping_);
  io(records_);
  io(guessed_records_);
  io(account_);
  std::vector<std::pair<std::string, Seen>> seen;
  for (const auto& [format, known] : seen_) {
    if (known.records > 0) seen.emplace_back(lines_.declaration(format).name, known);
  }
  io(seen);
  io(guesses_);
  io(pending_);
  io(bar_.step);
  io(bar_.total);
  io(bar_.seconds);
  io(block_);
  io(joined_);
  io(day_clock_);
  io(epoch_);
  io(guessed_);
  io(guessed_step_);
  io(emitter_);
  io(notes_);
  io(clock_);
  if (!io.is_loading()) return;
  if (carry_.size() > kMaxConsoleLine || pending_.size() > kMaxConsoleLine) return io.fail();
  if (block_.lines_left < 0 || block_.lines_left > kMostBlockLines) return io.fail();
  // Formats that the configuration no longer has are left out.
  for (const auto& [name, known] : seen) {
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (lines_.declaration(i).name == name) seen_[i] = known;
    }
  }
  if (block_.format >= lines_.size()) block_ = {};
  search_for_literals();
}

// Text, but not JSON, nor a pickle.
Detection detect_text(std::string_view head) {
  const std::size_t begin = head.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return Detection::undecided;
  const char first = head[begin];
  const auto byte = static_cast<unsigned char>(first);
  const bool binary = (byte < 0x20 && first != '\x1b' && first != '\b') || byte == 0x7f;
  if (binary || (byte >= 0x80 && byte < 0xc2)) return Detection::no;
  if (first == '\xEF') {  // a byte order mark, or a letter
    if (head.size() < begin + 3) return Detection::undecided;
    return head.substr(begin).starts_with("\xEF\xBB\xBF") ? Detection::yes : Detection::no;
  }
  if (first != '{' && first != '[') return Detection::yes;
  const std::size_t next = head.find_first_not_of(" \t\r\n", begin + 1);
  if (next == std::string_view::npos) return Detection::undecided;
  constexpr std::string_view kBrackets = "{}[]\"";
  return kBrackets.find(head[next]) == std::string_view::npos ? Detection::yes : Detection::no;
}

// By the name, because any text may be what a job prints.
Detection detect_console(const FormatClue& clue) {
  if (clue.kind != FormatClue::Kind::head) return Detection::no;
  const std::string_view name = without_rotation(base_name(clue.path));
  const auto formats = DeclaredFormats::or_presets(clue.declared).lines();
  const bool named = std::ranges::any_of(formats, [&clue](const LinePattern& format) {
    return is_named_for(format.declaration(), clue.path);
  });
  const bool ours = named || name.ends_with(".out") || name.ends_with(".log") ||
                    name.ends_with(".err") || name.starts_with("nemo_log_") || is_kernel_log(name);
  return ours ? detect_text(clue.head) : Detection::no;
}

// Of other names, after every other format has been asked.
Detection detect_other_text(const FormatClue& clue) {
  if (clue.kind != FormatClue::Kind::head) return Detection::no;
  const std::string_view name = without_rotation(base_name(clue.path));
  // Without an ending it may be anything, also a damaged file of another format.
  if (claim_of(name) > NameClaim::text) return Detection::no;
  return detect_text(clue.head);
}

}  // namespace

extern const Format console_format = {.name = "console",
                                      .lines = true,
                                      .detect = &detect_console,
                                      .make = &make_decoder<ConsoleDecoder>};
extern const Format other_text_format = {.name = "text",
                                         .lines = true,
                                         .detect = &detect_other_text,
                                         .make = &make_decoder<ConsoleDecoder>};

}  // namespace trainwatch
