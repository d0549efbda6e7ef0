// SPDX-License-Identifier: Apache-2.0
// What a training job prints: scalars in lines of one of the console presets, between any other
// text. The first line of a preset decides which one the file has; until then, and for ever where
// none comes, only the literals of the presets are searched for.
//
// A carriage return ends a line too: progress bars draw themselves again and again without any
// line break. Lines of more than 8 KiB are none of ours. The last line counts when it has ended.
#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/declared/declared_formats.h"
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

namespace trainwatch {
namespace {

constexpr std::size_t kMaxConsoleLine = 8192;
// What launchers print when a job has ended: Slurm, and torchrun after its last attempt.
constexpr std::string_view kEndsOfJobs[] = {"slurmstepd: error: *** ", "ChildFailedError"};

// The line may have been found by the literal of a bar.
template <class Literals>
bool has_one_of(const Literals& literals, std::string_view line) {
  return std::ranges::any_of(literals, [line](std::string_view text) {
    return find_text(line, text) != std::string_view::npos;
  });
}

class ConsoleDecoder final : public Decoder {
 public:
  explicit ConsoleDecoder(const FileContext& context)
      : context_(context),
        formats_(DeclaredFormats::or_presets(context.declared)),
        emitter_(context),
        notes_(context) {
    search_for_presets();
  }

  void feed(std::string_view bytes, EventBatch& out) override;
  void finish(EventBatch& out) override {
    finished_ = true;
    notes_.finish(out);
  }
  void cut_back(std::size_t bytes) override {
    carry_.resize(carry_.size() - std::min(bytes, carry_.size()));
  }
  bool complete() const override { return false; }
  bool mid_record() const override { return !carry_.empty(); }
  void state(StateIo& io) override;
  std::uint64_t records() const override { return records_; }
  std::string_view declared() const override {
    return pattern_ != nullptr ? std::string_view{pattern_->declaration().name} : "";
  }
  ByteAccount bytes() const override {
    ByteAccount all = account_;
    if (finished_) all.structure += carry_.size();
    return all;
  }

 private:
  void search_for_presets();
  void search_for_pattern();
  void search_for(std::vector<std::string_view> literals);
  void read(std::string_view bytes, EventBatch& out);
  void read_begun(std::string_view part, EventBatch& out);
  void scan(std::string_view lines, EventBatch& out);
  bool line(std::string_view text, EventBatch& out);
  void keep(std::string_view part);
  bool take_bar(std::string_view text);
  void emit_bar(EventBatch& out);
  bool take_watchdog(std::string_view text);
  void bind(std::string_view text);
  const LineLayout* layout_of(std::string_view text);
  void emit(std::string_view text, const LineLayout& layout, EventBatch& out);
  void emit_pending(EventBatch& out);
  bool take_other(std::string_view text, EventBatch& out);
  bool take_end(std::string_view text, bool done, EventBatch& out);
  SubjectId subject() const { return emitter_.has_begun() ? emitter_.subject() : SubjectId::none; }
  std::string_view without_colours(std::string_view text);

  const FileContext& context_;
  const DeclaredFormats& formats_;
  RecordEmitter emitter_;
  RunNoteReader notes_;
  std::string carry_;      // the line that has not ended
  bool skipping_ = false;  // it is too long
  bool finished_ = false;
  std::uint64_t records_ = 0;
  ByteAccount account_;
  const LinePattern* pattern_ = nullptr;  // null: no line of a preset yet
  LineLayouts layouts_;                   // of records that are lines of their own
  LineLayout layout_;                     // reused: of another record
  std::string pending_;                   // a record without a step of its own: the next bar has it
  ProgressBar bar_;
  LiteralSearch literals_;
  LocalClock clock_;
  std::string plain_;  // reused: a line without its colours
};

void ConsoleDecoder::search_for_presets() {
  std::vector<std::string_view> literals;
  for (const LinePattern& format : formats_.lines()) {
    const auto& own = format.declaration().has;
    literals.insert(literals.end(), own.begin(), own.end());
  }
  search_for(std::move(literals));
}

void ConsoleDecoder::search_for_pattern() {
  const FormatDeclaration& format = pattern_->declaration();
  std::vector<std::string_view> literals(format.has.begin(), format.has.end());
  literals.insert(literals.end(), format.end.begin(), format.end.end());
  literals.insert(literals.end(), format.marks.begin(), format.marks.end());
  literals.insert(literals.end(), std::begin(kEndsOfJobs), std::end(kEndsOfJobs));
  search_for(std::move(literals));
  layouts_.clear();
}

void ConsoleDecoder::search_for(std::vector<std::string_view> literals) {
  literals.push_back(kBarLiteral);
  literals.push_back(kWatchdogLiteral);
  literals.insert(literals.end(), end_literals().begin(), end_literals().end());
  literals_ = LiteralSearch(literals);
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
  const bool seen =
      !skipping_ && (notes_.follows() || literals_.find(carry_) != std::string_view::npos);
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
    const std::size_t hit = notes_.follows() ? from : literals_.find(lines, from);
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

// A line with a literal. True if it is a record.
bool ConsoleDecoder::line(std::string_view text, EventBatch& out) {
  text = without_colours(text);
  const LineLayout* layout = layouts_.find(text);
  if (layout == nullptr) {
    if (take_watchdog(text)) {
      notes_.take(text, subject(), out);
      return true;
    }
    take_bar(text);
  }
  emit_pending(out);
  if (layout == nullptr) layout = layout_of(text);
  if (layout == nullptr) return take_other(text, out);
  ++records_;
  const bool waits = pattern_->declaration().step_from_bar && bar_.step != kNoStep;
  if (waits) {
    pending_ = text;
  } else {
    emit(text, *layout, out);
  }
  return true;
}

// Null: the line is no record. A line with a bar or with a message of the watchdog is read as a
// whole each time.
const LineLayout* ConsoleDecoder::layout_of(std::string_view text) {
  if (pattern_ == nullptr) bind(text);
  if (pattern_ == nullptr || !has_one_of(pattern_->declaration().has, text)) return nullptr;
  if (!pattern_->find(text, layout_)) return nullptr;
  const bool alone = find_text(text, kBarLiteral) == std::string_view::npos &&
                     find_text(text, kWatchdogLiteral) == std::string_view::npos;
  if (alone && pattern_->ignores_digits()) layouts_.add(layout_);
  return &layout_;
}

void ConsoleDecoder::emit_pending(EventBatch& out) {
  if (pending_.empty()) return;
  if (pattern_->find(pending_, layout_)) emit(pending_, layout_, out);
  pending_.clear();
}

// A line that is no record. True: it says that the training has ended.
bool ConsoleDecoder::take_other(std::string_view text, EventBatch& out) {
  const bool done =
      pattern_ != nullptr && emitter_.has_begun() && has_one_of(pattern_->declaration().end, text);
  if (done) {
    notes_.completed(text, subject(), out);
  } else {
    notes_.take(text, subject(), out);
  }
  return take_end(text, done, out);
}

// The training of the rank whose record came last has ended, well or not: a note says how.
bool ConsoleDecoder::take_end(std::string_view text, bool done, EventBatch& out) {
  if (!done && (pattern_ == nullptr || !has_one_of(kEndsOfJobs, text))) return false;
  if (!emitter_.has_begun()) return false;
  out.emplace_back(SourceNote{emitter_.at(), context_.lane, SourceNote::Kind::timeline_closed,
                              emitter_.subject()});
  return true;
}

// tqdm draws its bar again after each record, and at most ten times a second otherwise, so that the
// one before a record may be old. An evaluation has a bar of its own, with fewer steps.
bool ConsoleDecoder::take_bar(std::string_view text) {
  const auto bar = read_progress_bar(text);
  if (!bar || bar->total < bar_.total) return false;
  bar_ = *bar;
  return true;
}

// What a bar says beside the record whose step it has.
void ConsoleDecoder::emit_bar(EventBatch& out) {
  static const DeclaredField kTotal{.key = "total_steps", .kind = ScalarKind::total_steps};
  static const DeclaredField kRate{
      .key = "s/it", .kind = ScalarKind::step_seconds, .interval = true};
  const std::size_t behind = pattern_->declaration().fields.size();
  emitter_.emit(kTotal, emitter_.tag_of(kTotal, behind), static_cast<double>(bar_.total), out);
  if (bar_.seconds <= 0) return;
  emitter_.emit(kRate, emitter_.tag_of(kRate, behind + 1), bar_.seconds, out);
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

// Of several presets that know the line, the one that finds more fields in it.
void ConsoleDecoder::bind(std::string_view text) {
  std::size_t most = 0;
  for (const LinePattern& format : formats_.lines()) {
    if (!has_one_of(format.declaration().has, text)) continue;
    if (!format.find(text, layout_)) continue;
    std::size_t fields = 0;
    for (std::size_t i = 0; i < layout_.values.size(); ++i) {
      if (format.value(i, text, layout_)) ++fields;
    }
    if (fields <= most) continue;
    most = fields;
    pattern_ = &format;
  }
  if (pattern_ == nullptr) return;
  search_for_pattern();
}

void ConsoleDecoder::emit(std::string_view text, const LineLayout& layout, EventBatch& out) {
  const FormatDeclaration& declaration = pattern_->declaration();
  const std::int64_t step = declaration.step_from_bar ? bar_.step : pattern_->step(text, layout);
  const std::string_view time = layout.time.of(text);
  const auto at = time.empty() ? std::nullopt : clock_.read(time);
  notes_.before_record(out);
  bool begun = false;
  for (std::size_t i = 0; i < declaration.fields.size(); ++i) {
    const DeclaredField& field = declaration.fields[i];
    const auto value = pattern_->value(i, text, layout);
    if (!value) continue;
    if (!begun && !emitter_.begin({step, rank_of_line(text), at}, text)) return;
    begun = true;
    emitter_.emit(field, emitter_.tag_of(field, i), *value, out);
  }
  if (begun && emitter_.is_timed()) notes_.record(emitter_.at());
  if (begun && declaration.step_from_bar && bar_.step != kNoStep) emit_bar(out);
}

// Without "ESC[...m".
std::string_view ConsoleDecoder::without_colours(std::string_view text) {
  std::size_t escape = text.find('\x1b');
  if (escape == std::string_view::npos) return text;
  plain_.clear();
  while (escape != std::string_view::npos) {
    plain_.append(text.substr(0, escape));
    const std::size_t end = text.find('m', escape);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    escape = text.find('\x1b');
  }
  return plain_.append(text);
}

void ConsoleDecoder::state(StateIo& io) {
  std::string preset{pattern_ != nullptr ? pattern_->declaration().name : ""};
  io(carry_);
  io(skipping_);
  io(records_);
  io(account_);
  io(preset);
  io(pending_);
  io(bar_.step);
  io(bar_.total);
  io(bar_.seconds);
  io(emitter_);
  io(notes_);
  if (!io.is_loading()) return;
  if (carry_.size() > kMaxConsoleLine || pending_.size() > kMaxConsoleLine) return io.fail();
  // A format that the configuration no longer has: the next line that is known decides again.
  const auto formats = formats_.lines();
  const auto found = std::ranges::find(
      formats, preset, [](const LinePattern& each) { return each.declaration().name; });
  if (found == formats.end()) return pending_.clear();
  pattern_ = &*found;
  search_for_pattern();
}

// No text begins with it, in ASCII or UTF-8.
bool is_binary_start(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return (byte < 0x20 && byte != 0x1b) || byte == 0x7f || (byte >= 0x80 && byte < 0xc2);
}

// By the name, because any text may be what a job prints; but not JSON, nor a pickle.
Detection detect_console(const FormatClue& clue) {
  if (clue.kind != FormatClue::Kind::head) return Detection::no;
  std::string_view name = base_name(clue.path);
  if (name.ends_with(".gz")) name.remove_suffix(3);
  const auto formats = DeclaredFormats::or_presets(clue.declared).lines();
  const bool named = std::ranges::any_of(formats, [&clue](const LinePattern& format) {
    return is_named_for(format.declaration(), clue.path);
  });
  // Without an ending it may be anything, also a damaged file of another format.
  const NameClaim claim = claim_of(name);
  const bool may_be_text = claim <= NameClaim::text;
  const bool ours = named || name.ends_with(".out") || name.ends_with(".log") ||
                    name.ends_with(".err") || name.starts_with("nemo_log_") || may_be_text;
  if (!ours) return Detection::no;
  const std::size_t begin = clue.head.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return Detection::undecided;
  const char first = clue.head[begin];
  if (claim != NameClaim::none && is_binary_start(first)) return Detection::no;
  if (first == '\0' || first == '\xEF' || first == '\x80') return Detection::no;
  if (first != '{' && first != '[') return Detection::yes;
  const std::size_t next = clue.head.find_first_not_of(" \t\r\n", begin + 1);
  if (next == std::string_view::npos) return Detection::undecided;
  constexpr std::string_view kBrackets = "{}[]\"";
  return kBrackets.find(clue.head[next]) == std::string_view::npos ? Detection::yes : Detection::no;
}

}  // namespace

extern const Format console_format = {.name = "console",
                                      .lines = true,
                                      .detect = &detect_console,
                                      .make = &make_decoder<ConsoleDecoder>};

}  // namespace trainwatch
