// SPDX-License-Identifier: Apache-2.0
// Files with a JSON object per line that a declaration knows (declared/file_presets): scalars, or
// spans as torchtitan writes them. The first line with all members that a declaration asks for
// decides which one the file has; lines without them are passed over. Where none knows the first
// objects, the names of their members decide (declared/guessed_format).
//
// A line counts when it has ended: the last one may be torn.
#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/declared/declared_formats.h"
#include "pipeline/decode/declared/guessed_format.h"
#include "pipeline/decode/declared/record_emitter.h"
#include "pipeline/decode/format.h"
#include "pipeline/decode/json_cursor.h"
#include "pipeline/decode/line_splitter.h"
#include "pipeline/decode/scalar_tags.h"
#include "trainwatch/star_pattern.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMostMembers = 256;  // of a record; further ones are not read

constexpr int kMostLevels = 3;  // of objects in a record; what lies deeper is not read

struct LineMember {
  std::string_view key;    // of one in another object "train/loss"
  std::string_view value;  // as raw text
};

// The members of one line; empty: it is no object. Reused.
class JsonLine {
 public:
  bool read(std::string_view line) {
    members_.clear();
    names_.clear();
    JsonCursor cursor{line};
    if (!read_object(cursor, {}, 1)) return false;
    return !cursor.failed() && cursor.at_end();
  }
  // No object lies in it, and no list goes on in another line: as in no document of a profiler.
  bool is_flat(bool ended) const {
    return std::ranges::none_of(members_, [ended](const LineMember& member) {
      const std::string_view value = member.value;
      return value.starts_with('{') || value.starts_with("[{") ||
             (ended && value.starts_with('[') && !value.ends_with(']'));
    });
  }
  // The value of a member; empty: there is none, or it has none.
  std::string_view of(std::string_view key) const {
    if (key.empty()) return {};
    const auto found = std::ranges::find(members_, key, &LineMember::key);
    return found == members_.end() ? std::string_view{} : found->value;
  }
  bool has_all(const std::vector<std::string>& keys) const {
    return std::ranges::all_of(keys, [this](const std::string& key) { return !of(key).empty(); });
  }
  const std::vector<LineMember>& members() const { return members_; }

 private:
  bool read_object(JsonCursor& cursor, const std::string& above, int depth) {
    if (!cursor.enter()) return false;
    for (std::string_view key; cursor.next(key);) {
      const std::string_view value = cursor.value();
      if (members_.size() >= kMostMembers) continue;
      if (!above.empty()) key = names_.emplace_back(above + std::string(key));
      members_.push_back({key, value});
      if (!value.starts_with('{') || depth == kMostLevels) continue;
      JsonCursor inner{value};
      read_object(inner, std::string(key) + "/", depth + 1);
    }
    return true;
  }

  std::vector<LineMember> members_;
  std::deque<std::string> names_;  // of members in other objects
};

// Of those that know the record, the one that asks for most; null: none does.
const FormatDeclaration* knows(const DeclaredFormats& formats, const JsonLine& line) {
  const FormatDeclaration* best = nullptr;
  for (const FormatDeclaration& format : formats.json()) {
    const bool better = best == nullptr || format.has.size() > best->has.size();
    if (better && line.has_all(format.has)) best = &format;
  }
  return best;
}

// Also of a number in quotes.
std::optional<double> number_in(std::string_view value, ScalarKind kind) {
  if (is_string_token(value)) return scalar_at(between_quotes(value), kind);
  return number_in_json(value);
}

// By its names alone.
std::optional<FormatDeclaration> guess(const JsonLine& line) {
  std::vector<std::string_view> names;
  for (const LineMember& member : line.members()) {
    if (number_in(member.value, ScalarKind::other) || is_string_token(member.value)) {
      names.push_back(member.key);
    }
  }
  auto format = guess_format(DeclaredKind::json, names);
  if (!format) return std::nullopt;
  const auto step = number_in(line.of(format->step), ScalarKind::other);
  const bool epoch = counter_of_name(format->step) == CounterKind::epochs;
  return step && !(epoch && *step > kMostEpochs) ? format : std::nullopt;
}

std::int64_t integer_in(std::string_view value, std::int64_t none) {
  const auto number = number_in(value, ScalarKind::other);
  constexpr double kExact = 9007199254740992.0;
  if (!number || !(std::abs(*number) < kExact)) return none;
  return static_cast<std::int64_t>(*number);
}

class JsonLinesDecoder final : public Decoder {
 public:
  explicit JsonLinesDecoder(const FileContext& context)
      : context_(context),
        formats_(DeclaredFormats::or_presets(context.declared)),
        emitter_(context) {}

  void feed(std::string_view bytes, EventBatch& out) override;
  void finish(EventBatch&) override { finished_ = true; }
  void cut_back(std::size_t bytes) override { lines_.cut_back(bytes); }
  bool complete() const override { return false; }
  bool mid_record() const override { return lines_.mid_line(); }
  void state(StateIo& io) override;
  std::uint64_t records() const override { return records_; }
  ByteAccount bytes() const override {
    ByteAccount all = account_;
    all.rejected += lines_.too_long();
    if (finished_) all.structure += lines_.rest().size();
    return all;
  }
  std::string_view declared() const override {
    return format_ != nullptr ? std::string_view{format_->name} : std::string_view{};
  }

 private:
  void line(std::string_view text, EventBatch& out);
  bool knows_record();
  bool record(std::string_view text, EventBatch& out);
  std::optional<Time> time_of();
  void emit_scalars(EventBatch& out);
  void emit_span(std::string_view name, Time end, EventBatch& out);
  bool is_of_helper();
  bool is_of_evaluation() const;

  const FileContext& context_;
  const DeclaredFormats& formats_;
  const FormatDeclaration* format_ = nullptr;  // null: no record yet
  std::optional<FormatDeclaration> guessed_;   // what format_ may be
  RecordEmitter emitter_;
  RecordSteps steps_;
  LineSplitter lines_;
  JsonLine line_;
  std::uint64_t records_ = 0;
  ByteAccount account_;
  LocalClock clock_;
  bool finished_ = false;
};

void JsonLinesDecoder::feed(std::string_view bytes, EventBatch& out) {
  finished_ = false;
  lines_.feed(
      bytes, [&](std::string_view text) { line(text, out); },
      [&](std::string_view beginning) {
        context_.diagnostics.reject(context_.file, RejectReason::too_long, beginning);
      });
}

void JsonLinesDecoder::line(std::string_view text, EventBatch& out) {
  const std::size_t bytes = text.size() + 1;
  if (text.find_first_not_of(" \t\r") == std::string_view::npos) {
    account_.structure += bytes;
    return;
  }
  if (!line_.read(text)) {
    account_.rejected += bytes;
    return context_.diagnostics.reject(context_.file, RejectReason::syntax, text);
  }
  const bool is_record = record(text, out);
  (is_record ? account_.records : account_.structure) += bytes;
}

bool JsonLinesDecoder::knows_record() {
  if (format_ == nullptr || format_->guessed) {
    const FormatDeclaration* const known = knows(formats_, line_);
    if (known != nullptr) format_ = known;
  }
  if (format_ == nullptr) {
    guessed_ = guess(line_);
    if (guessed_) format_ = &*guessed_;
  }
  return format_ != nullptr && line_.has_all(format_->has);
}

bool JsonLinesDecoder::record(std::string_view text, EventBatch& out) {
  if (!knows_record()) return false;
  ++records_;
  DeclaredRecord about;
  about.step = std::max(integer_in(line_.of(format_->step), kNoStep), kNoStep);
  about.rank = small_integer(line_.of(format_->rank)).value_or(kNoRank);
  about.at = time_of();
  about.node = between_quotes(line_.of(format_->node));
  about.guessed = format_->guessed;
  about.of_epoch = counter_of_name(format_->step) == CounterKind::epochs;
  std::string_view name = between_quotes(line_.of(format_->spans.name_key));
  const bool has_spans = !format_->spans.name_key.empty();
  if (has_spans && !name.ends_with(format_->spans.end)) return true;
  if (!emitter_.begin(about, text, steps_)) return true;
  if (!has_spans) {
    emit_scalars(out);
  } else if (about.at) {
    name.remove_suffix(format_->spans.end.size());
    emit_span(name, *about.at, out);
  }
  return true;
}

std::optional<Time> JsonLinesDecoder::time_of() {
  const std::string_view value = line_.of(format_->time);
  if (value.empty()) return std::nullopt;
  const std::string_view text = is_string_token(value) ? between_quotes(value) : value;
  if (format_->guessed) return clock_.read_any(text);
  if (is_string_token(value) && value.find('-') != std::string_view::npos) return clock_.read(text);
  const auto ns = parse_time_ns(text, format_->time_unit);
  return ns ? std::optional(time_from_ns(*ns)) : std::nullopt;
}

// "split": "val"
bool JsonLinesDecoder::is_of_evaluation() const {
  constexpr std::string_view kKeys[] = {"split", "phase", "mode", "stage", "set", "type", "kind"};
  return std::ranges::any_of(line_.members(), [&kKeys](const LineMember& member) {
    return std::ranges::find(kKeys, member.key) != std::end(kKeys) &&
           is_string_token(member.value) && is_evaluation_name(between_quotes(member.value));
  });
}

void JsonLinesDecoder::emit_scalars(EventBatch& out) {
  const bool evaluates = format_->guessed && is_of_evaluation();
  for (const LineMember& member : line_.members()) {
    const auto& fields = format_->fields;
    const auto field = std::ranges::find_if(
        fields, [&](const DeclaredField& each) { return matches_star(each.key, member.key); });
    if (field != fields.end() && field->key == member.key) {
      const auto value = number_in(member.value, field->kind);
      if (value) emitter_.emit(*field, emitter_.tag_of(*field), *value, out);
      continue;
    }
    const bool clock = member.key == format_->time && (!format_->guessed || emitter_.is_timed());
    const bool counts = member.key == format_->step || clock;
    if (field == fields.end() && (!format_->others || counts)) continue;
    OtherTag* const tag = evaluates
                              ? emitter_.other_tag("validation/" + std::string(member.key), format_)
                              : emitter_.other_tag(member.key, format_);
    if (tag == nullptr) continue;
    const DeclaredField& meaning = field != fields.end() ? *field : tag->meaning;
    const auto value = number_in(member.value, meaning.kind);
    if (value && field != fields.end()) {
      emitter_.emit(meaning, tag->symbol, *value, out);
    } else if (value) {
      emitter_.emit_other(*tag, *value, false, out);
    }
  }
}

void JsonLinesDecoder::emit_span(std::string_view name, Time end, EventBatch& out) {
  const DeclaredSpans& spans = format_->spans;
  const std::string_view value = line_.of(spans.ms_key);
  const auto lasted =
      parse_time_ns(is_string_token(value) ? between_quotes(value) : value, TimeUnit::milliseconds);
  if (!lasted || *lasted < 0) {
    return context_.diagnostics.reject(context_.file, RejectReason::time, name);
  }
  const auto kind = std::ranges::find(spans.kinds, name, &std::pair<std::string, SpanKind>::first);
  auto& span = std::get<Span>(out.emplace_back(std::in_place_type<Span>));
  span.duration = Nanos{*lasted};
  span.start = end - span.duration;
  span.step = std::max(integer_in(line_.of(format_->step), kNoStep), kNoStep);
  span.subject = emitter_.subject();
  span.name = span.phase = context_.interner.symbols.intern(name);
  span.process = integer_or(line_.of(format_->process), -1);
  span.thread = integer_or(line_.of(format_->thread), kNoThread);
  if (kind != spans.kinds.end() && !is_of_helper()) span.kind = kind->second;
  if (span.kind == SpanKind::step) span.mode = Mode::train;
}

// One that works for the training, such as the generator of reinforcement learning: it has ranks
// and steps of its own.
bool JsonLinesDecoder::is_of_helper() {
  const std::string_view role = between_quotes(line_.of(format_->spans.role_key));
  return std::ranges::any_of(format_->spans.helpers, [role](const std::string& word) {
    return role.find(word) != std::string_view::npos;
  });
}

void JsonLinesDecoder::state(StateIo& io) {
  std::string format{declared()};
  std::string step = guessed_ ? guessed_->step : "";
  std::string time = guessed_ ? guessed_->time : "";
  io(format);
  io(step);
  io(time);
  io(emitter_);
  io(steps_);
  io(lines_);
  io(records_);
  io(account_);
  io(clock_);
  if (!io.is_loading()) return;
  // Null: the configuration has it no more, and the next record decides again.
  const auto known = formats_.json();
  const auto found = std::ranges::find(known, format, &FormatDeclaration::name);
  format_ = found == known.end() ? nullptr : &*found;
  guessed_.reset();
  if (step.empty()) return;
  guessed_ = guessed_format(DeclaredKind::json, std::move(step), std::move(time));
  if (format_ == nullptr && format == guessed_->name) format_ = &*guessed_;
}

// By its first lines, which have ended; of a file whose name promises nothing only the first one is
// asked for, with its first member, so that other formats may know it before.
Detection detect_json_lines(const FormatClue& clue) {
  if (clue.kind == FormatClue::Kind::event) return Detection::no;
  const DeclaredFormats& formats = DeclaredFormats::or_presets(clue.declared);
  const bool named = std::ranges::any_of(formats.json(), [&clue](const FormatDeclaration& format) {
    return is_named_for(format, clue.path);
  });
  if (named != (clue.kind == FormatClue::Kind::head)) return Detection::no;
  std::string_view rest = clue.head;
  JsonLine line;
  for (int lines = 0; lines < (named ? 100 : 1); ++lines) {
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t\r\n"), rest.size()));
    if (rest.empty()) return named ? Detection::undecided : Detection::no;
    if (!rest.starts_with('{')) return Detection::no;
    const std::size_t end = rest.find('\n');
    const bool whole = line.read(rest.substr(0, end));
    const bool known = whole && knows(formats, line) != nullptr;
    const bool guessed = whole && !known && guess(line).has_value();
    if (!guessed && !line.is_flat(end != std::string_view::npos)) return Detection::no;
    if (end == std::string_view::npos) return named ? Detection::undecided : Detection::no;
    if (known || guessed) return Detection::yes;
    rest.remove_prefix(end);
  }
  return Detection::no;
}

}  // namespace

extern const Format json_lines_format = {.name = "json_lines",
                                         .lines = true,
                                         .detect = &detect_json_lines,
                                         .make = &make_decoder<JsonLinesDecoder>};

}  // namespace trainwatch
