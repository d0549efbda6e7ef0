// SPDX-License-Identifier: Apache-2.0
// SageMaker Profiler's system metrics: one JSON object a line, with the fields Timestamp, Type,
// Name, Dimension, NodeId and Value. Every line is one Sample; where a line break was lost, objects
// may follow each other.
//
// A node writes the same few hundred series in the same order again and again, and of a line only
// two numbers change. So a line is first compared with the layout of the line that followed last
// time: when all of it but the two numbers is equal, the numbers are read and that is all. Any
// other line is parsed, in any order of keys and any spacing.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/decode/constant_parts.h"
#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/format.h"
#include "pipeline/decode/json_cursor.h"
#include "pipeline/decode/line_splitter.h"
#include "pipeline/decode/lines_before_end.h"
#include "pipeline/decode/metric_series.h"
#include "pipeline/decode/record_layouts.h"
#include "pipeline/decode/remembered_token.h"
#include "pipeline/decode/short_text.h"
#include "pipeline/decode/token_table.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMaxLayouts = 16384;
constexpr std::size_t kMaxNameBytes = std::size_t{4} << 20U;
constexpr std::size_t kLongestNumber = 32;  // of an expected line
constexpr int kMaxFailures = 16;            // in one line, so that none costs much

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

// Where an object may begin behind the first byte. They have no objects inside.
std::size_t next_object(std::string_view text) {
  for (std::size_t at = text.find('{', 1); at != std::string_view::npos;
       at = text.find('{', at + 1)) {
    const std::size_t key = text.find_first_not_of(" \t\r", at + 1);
    if (key != std::string_view::npos && text[key] == '"') return at;
  }
  return text.size();
}

class SystemMetricsDecoder final : public Decoder {
 public:
  explicit SystemMetricsDecoder(const FileContext& context) : context_(context), named_(context) {}

  void feed(std::string_view bytes, EventBatch& out) override;
  void finish(EventBatch& out) override;
  void cut_back(std::size_t bytes) override {
    before_end_.go_on(lines_, account_);
    account_.cut_back(bytes - std::min(bytes, lines_.rest().size()));
    lines_.cut_back(bytes);
  }
  bool complete() const override { return false; }  // a file of lines has no end mark
  bool mid_record() const override { return lines_.mid_line(); }
  void state(StateIo& io) override;
  std::size_t unsaved_bytes() const override {
    return layouts_.size() * (sizeof(Layout) + sizeof(Series)) + parts_.bytes() +
           layout_of_name_.memory() + named_.memory();
  }
  std::uint64_t records() const override { return records_; }
  ByteAccount bytes() const override {
    ByteAccount all = account_;
    all.rejected += lines_.too_long();
    return all;
  }

 private:
  using LineParts = ConstantParts<2>;

  // A line of one series.
  struct Layout {
    LineParts::Line parts;       // around its two numbers
    std::uint32_t next = 0;      // the layout of the line that followed last time
    std::optional<SeriesId> id;  // none: there was no room for the series
    Resource resource = Resource::other;
    bool value_first = true;
  };
  // The values of one line as raw tokens.
  struct Tokens {
    using Member = std::string_view Tokens::*;

    std::string_view type, name, dimension, node, value, timestamp;

    bool take(Member member, std::string_view token) {
      this->*member = token;
      return false;
    }
    static Member member_of(std::string_view key) {
      if (key == "Type") return &Tokens::type;
      if (key == "Name") return &Tokens::name;
      if (key == "Dimension") return &Tokens::dimension;
      if (key == "NodeId") return &Tokens::node;
      if (key == "Value") return &Tokens::value;
      return key == "Timestamp" ? &Tokens::timestamp : nullptr;
    }
  };

  // What a line says, in fields without padding between them: copying a Sample would wait until
  // all of it is stored.
  struct Reading {
    std::int64_t at_ns = 0;
    double value = 0;
    std::size_t layout = 0;  // index into layouts_
  };

  void line(std::string_view text, EventBatch& out);
  void begun_line(EventBatch& out);
  // A reading of `size` bytes, whose series has room.
  void accept(const Reading& reading, std::size_t size, EventBatch& out);
  // The expected line at the beginning of the text; `size` is how much of it that takes.
  bool read_expected(std::string_view text, Reading& reading, std::size_t& size);
  // Accepts what read_expected() has read, or rejects it if there is no room.
  void take_expected(const Reading& reading, std::string_view text, EventBatch& out);
  // Takes the lines at the beginning of `bytes` that are what was expected; returns their size.
  std::size_t expected_lines(std::string_view bytes, EventBatch& out);
  // There may be room later, if the limit is raised.
  bool has_room(std::size_t number) {
    Layout& layout = layouts_[number];
    if (!layout.id) layout.id = context_.interner.series.intern(series_[number]);
    return layout.id.has_value();
  }
  bool time_of(std::string_view token, std::int64_t& at);
  // The first object in the text; `size` is how much of it that takes.
  Rejection parse(std::string_view text, Reading& reading, std::size_t& size);
  bool read_tokens(std::string_view text, Tokens& tokens, std::size_t& size);
  // The layout of the series that these tokens name; a new series gets one.
  Rejection find_layout(const Tokens& tokens, std::uint32_t& number);
  void set_layout(std::string_view text, const Tokens& tokens, Layout& layout);

  const FileContext& context_;
  LineSplitter lines_;
  MetricSeries named_;
  std::uint64_t records_ = 0;
  ByteAccount account_;
  LinesBeforeEnd before_end_;
  RecordLayouts<Tokens> spellings_;  // orders of keys, and spaces
  std::vector<Layout> layouts_;      // one per series
  std::vector<Series> series_;       // of them
  LineParts parts_;
  std::size_t last_ = 0;          // the layout of the last line
  TokenTable<4> layout_of_name_;  // by the tokens as written
  RememberedToken time_;          // samples of one moment repeat it
  std::int64_t time_ns_ = 0;
};

void SystemMetricsDecoder::feed(std::string_view bytes, EventBatch& out) {
  before_end_.go_on(lines_, account_);
  lines_.feed(
      bytes,
      [&](std::string_view text) {
        line(text, out);
        ++account_.structure;
      },
      [&](std::string_view beginning) {
        context_.diagnostics.reject(context_.file, RejectReason::too_long, beginning);
      },
      [&](std::string_view lines) { return expected_lines(lines, out); });
  begun_line(out);
}

std::size_t SystemMetricsDecoder::expected_lines(std::string_view bytes, EventBatch& out) {
  std::string_view rest = bytes;
  for (;;) {
    Reading reading;
    std::size_t size = 0;
    if (!read_expected(rest, reading, size)) break;
    if (size == rest.size() || rest[size] != '\n') break;
    take_expected(reading, rest.substr(0, size), out);
    ++account_.structure;
    rest.remove_prefix(size + 1);
  }
  return bytes.size() - rest.size();
}

void SystemMetricsDecoder::take_expected(const Reading& reading, std::string_view text,
                                         EventBatch& out) {
  last_ = reading.layout;
  if (has_room(last_)) return accept(reading, text.size(), out);
  context_.diagnostics.reject(context_.file, RejectReason::cardinality, text);
  account_.rejected += text.size();
}

// A whole object is a record: some writers end a line only when they begin the next one.
void SystemMetricsDecoder::begun_line(EventBatch& out) {
  const std::string_view text = lines_.rest();
  if (!text.ends_with('}')) return;
  Reading reading;
  std::size_t size = 0;
  if (read_expected(text, reading, size) && size == text.size()) {
    if (!layouts_[reading.layout].id) return;  // counted at the end of the line
    take_expected(reading, text, out);
  } else {
    size = text.size();
    if (parse(text, reading, size) || size != text.size()) return;
    accept(reading, size, out);
  }
  lines_.take_rest();
}

void SystemMetricsDecoder::finish(EventBatch& out) {
  before_end_.finish(lines_, account_, records_, [&](std::string_view rest) { line(rest, out); });
}

// Behind damage, the next object of the line is tried. One reject for all that is damaged in a row.
void SystemMetricsDecoder::line(std::string_view text, EventBatch& out) {
  bool damaged = false;
  for (int failures = 0; !text.empty();) {
    Reading reading;
    std::size_t size = 0;
    if (read_expected(text, reading, size) && size == text.size()) {
      return take_expected(reading, text, out);
    }
    size = text.size();
    if (is_blank(text)) {
      account_.structure += size;
      return;
    }
    const Rejection reason = parse(text, reading, size);
    if (!reason) {
      accept(reading, size, out);
      damaged = false;
    } else {
      const bool syntax = *reason == RejectReason::syntax;
      if (!damaged || !syntax) context_.diagnostics.reject(context_.file, *reason, text);
      damaged = syntax;
      if (syntax) size = ++failures < kMaxFailures ? next_object(text) : text.size();
      account_.rejected += size;
    }
    text.remove_prefix(size);
  }
}

void SystemMetricsDecoder::accept(const Reading& reading, std::size_t size, EventBatch& out) {
  ++records_;
  account_.records += size;
  Sample& sample = std::get<Sample>(out.emplace_back(std::in_place_type<Sample>));
  sample.at = time_from_ns(reading.at_ns);
  sample.value = reading.value;
  const Layout& layout = layouts_[reading.layout];
  sample.series = *layout.id;
  sample.resource = layout.resource;
}

bool SystemMetricsDecoder::read_expected(std::string_view text, Reading& reading,
                                         std::size_t& size) {
  if (layouts_.empty()) return false;
  reading.layout = layouts_[last_].next;
  const Layout& layout = layouts_[reading.layout];
  if (!layout.parts.known()) return false;
  const auto [before, between, after] = parts_.of(layout.parts);
  std::string_view rest = text;
  const auto take = [&rest](std::string_view part) {
    if (!rest.starts_with(part)) return false;
    rest.remove_prefix(part.size());
    return true;
  };
  const auto take_token = [&rest](char end) {
    const std::string_view token =
        rest.substr(0, std::min(find_near(rest.substr(0, kLongestNumber), end), kLongestNumber));
    rest.remove_prefix(token.size());
    return token;
  };
  if (!take(before)) return false;
  const std::string_view first = take_token(between.front());
  if (!take(between)) return false;
  const std::string_view second = take_token(after.front());
  if (!take(after)) return false;
  if (!read_number(layout.value_first ? first : second, reading.value)) return false;
  if (!time_of(layout.value_first ? second : first, reading.at_ns)) return false;
  size = text.size() - rest.size();
  return true;
}

bool SystemMetricsDecoder::time_of(std::string_view token, std::int64_t& at) {
  if (!time_.is(token)) {
    if (!read_time_ns(token, TimeUnit::seconds, at)) return false;
    time_.remember(token);
    time_ns_ = at;
  }
  at = time_ns_;
  return true;
}

Rejection SystemMetricsDecoder::parse(std::string_view text, Reading& reading, std::size_t& size) {
  Tokens tokens;
  if (!read_tokens(text, tokens, size)) return RejectReason::syntax;
  text = text.substr(0, size);
  if (!read_number(tokens.value, reading.value)) return RejectReason::type;
  if (!time_of(tokens.timestamp, reading.at_ns)) return RejectReason::time;
  std::uint32_t number = 0;
  if (const Rejection reason = find_layout(tokens, number)) return reason;
  // The expected series in another layout: expect that one from now on.
  Layout& layout = layouts_[number];
  if (!layout.parts.known() || layouts_[last_].next == number) set_layout(text, tokens, layout);
  layouts_[last_].next = number;
  last_ = number;
  if (!has_room(number)) return RejectReason::cardinality;
  reading.layout = number;
  return std::nullopt;
}

bool SystemMetricsDecoder::read_tokens(std::string_view text, Tokens& tokens, std::size_t& size) {
  if (spellings_.read(text, tokens)) return true;
  tokens = {};
  const auto no_argument = [](std::string_view) { return Tokens::Member{}; };
  if (spellings_.read_by_key(text, tokens, Tokens::member_of, no_argument)) return true;
  tokens = {};  // of the first of several objects, whatever follows it
  JsonCursor cursor{text};
  cursor.enter();
  for (std::string_view key; cursor.next(key);) {
    const std::string_view value = cursor.value();
    if (const auto member = Tokens::member_of(key)) tokens.*member = value;
  }
  if (cursor.failed()) return false;
  size = cursor.at_end() ? text.size() : text.size() - cursor.rest().size();
  return true;
}

Rejection SystemMetricsDecoder::find_layout(const Tokens& tokens, std::uint32_t& number) {
  const TokenTable<4>::Tokens name{tokens.type, tokens.name, tokens.dimension, tokens.node};
  if (const auto known = layout_of_name_.find(name)) {
    number = *known;
    return std::nullopt;
  }
  Series series;
  if (const Rejection reason =
          named_.read({tokens.type, tokens.name, tokens.dimension, tokens.node}, series))
    return reason;
  // One series spelt in ever new ways, or long names. The tables are only a cache.
  if (layouts_.size() == kMaxLayouts || layout_of_name_.bytes() > kMaxNameBytes) {
    layouts_.clear();
    series_.clear();
    parts_.clear();
    layout_of_name_.clear();
    last_ = 0;
  }
  number = static_cast<std::uint32_t>(layouts_.size());
  layouts_.push_back({.parts = {}, .next = number, .id = {}, .resource = series.resource});
  series_.push_back(series);
  layout_of_name_.add(name, number);
  return std::nullopt;
}

void SystemMetricsDecoder::set_layout(std::string_view text, const Tokens& tokens, Layout& layout) {
  layout.value_first = tokens.value.data() < tokens.timestamp.data();
  const std::string_view first = layout.value_first ? tokens.value : tokens.timestamp;
  const std::string_view second = layout.value_first ? tokens.timestamp : tokens.value;
  const char* const first_end = first.data() + first.size();
  const LineParts::Parts parts{
      std::string_view{text.data(), first.data()}, std::string_view{first_end, second.data()},
      text.substr(static_cast<std::size_t>(second.data() + second.size() - text.data()))};
  parts_.set(layout.parts, parts);
}

void SystemMetricsDecoder::state(StateIo& io) {
  before_end_.state(io, lines_, account_);
  io(records_);
}

Detection detect_system_metrics(const FormatClue& clue) {
  constexpr std::array<std::string_view, 4> kKeys = {"NodeId", "Dimension", "Timestamp", "Type"};
  const bool known = clue.kind == FormatClue::Kind::member &&
                     std::find(kKeys.begin(), kKeys.end(), clue.key) != kKeys.end();
  return known ? Detection::yes : Detection::no;
}

}  // namespace

extern const Format system_metrics_format = {.name = "system_metrics",
                                             .lines = true,
                                             .parts = true,
                                             .detect = &detect_system_metrics,
                                             .make = &make_decoder<SystemMetricsDecoder>};

}  // namespace trainwatch
