// SPDX-License-Identifier: Apache-2.0
// Training steps as JSON lines: {"step":12,"start":1700000000.5,"step_seconds":0.21}
#include <algorithm>
#include <optional>

#include "pipeline/decode/byte_account.h"
#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/format.h"
#include "pipeline/decode/json_cursor.h"
#include "pipeline/decode/line_splitter.h"
#include "pipeline/decode/lines_before_end.h"

namespace trainwatch {
namespace {

class StepLinesDecoder final : public Decoder {
 public:
  explicit StepLinesDecoder(const FileContext& context) : context_(context) {}

  void feed(std::string_view bytes, EventBatch& out) override {
    before_end_.go_on(lines_, account_);
    lines_.feed(
        bytes,
        [&](std::string_view text) {
          line(text, out);
          ++account_.structure;  // the line break
        },
        [&](std::string_view beginning) { reject(RejectReason::too_long, beginning); });
  }
  void finish(EventBatch& out) override {
    before_end_.finish(lines_, account_, records_, [&](std::string_view rest) { line(rest, out); });
  }
  void cut_back(std::size_t bytes) override {
    before_end_.go_on(lines_, account_);
    account_.cut_back(bytes - std::min(bytes, lines_.rest().size()));
    lines_.cut_back(bytes);
  }
  bool complete() const override { return false; }  // a file of lines has no end mark
  bool mid_record() const override { return lines_.mid_line(); }
  std::uint64_t records() const override { return records_; }
  ByteAccount bytes() const override {
    ByteAccount all = account_;
    all.rejected += lines_.too_long();
    return all;
  }
  void state(StateIo& io) override {
    before_end_.state(io, lines_, account_);
    io(records_);
  }

 private:
  void reject(RejectReason reason, std::string_view text) {
    context_.diagnostics.reject(context_.file, reason, text);
  }

  void line(std::string_view text, EventBatch& out) {
    if (text.find_first_not_of(" \t\r") == std::string_view::npos) {
      account_.structure += text.size();
      return;
    }
    Span step;
    if (const Rejection reason = read_step(text, step)) {
      account_.rejected += text.size();
      return reject(*reason, text);
    }
    account_.records += text.size();
    ++records_;
    out.emplace_back(std::in_place_type<Span>, step);
  }

  // Times are integers from the text on, so that no double rounds them.
  Rejection read_step(std::string_view text, Span& span) {
    JsonCursor cursor(text);
    std::string_view number, start, seconds;
    if (!cursor.enter()) return RejectReason::syntax;
    for (std::string_view key; cursor.next(key);) {
      const std::string_view value = cursor.value();
      if (key == "step") number = value;
      if (key == "start") start = value;
      if (key == "step_seconds") seconds = value;
    }
    const auto start_ns = parse_time_ns(start, TimeUnit::seconds);
    const auto duration_ns = parse_time_ns(seconds, TimeUnit::seconds);
    if (cursor.failed() || !start_ns || !duration_ns) return RejectReason::syntax;
    const auto subject = context_.interner.subjects.intern({context_.job, "", context_.rank, ""});
    if (!subject) return RejectReason::cardinality;
    span.kind = SpanKind::step;
    span.mode = Mode::train;
    span.start = Time{Nanos{*start_ns}};
    span.duration = Nanos{*duration_ns};
    span.step = integer_or(number, kNoStep);
    span.name = context_.interner.symbols.intern("step");
    span.subject = *subject;
    return std::nullopt;
  }

  const FileContext& context_;
  LineSplitter lines_;
  std::uint64_t records_ = 0;
  ByteAccount account_;
  LinesBeforeEnd before_end_;
};

Detection detect_step_lines(const FormatClue& clue) {
  const bool known = clue.kind == FormatClue::Kind::member && clue.key == "step_seconds";
  return known ? Detection::yes : Detection::no;
}

}  // namespace

extern const Format step_lines_format = {.name = "step_lines",
                                         .lines = true,
                                         .detect = &detect_step_lines,
                                         .make = &make_decoder<StepLinesDecoder>};

}  // namespace trainwatch
