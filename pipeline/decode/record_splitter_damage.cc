// SPDX-License-Identifier: Apache-2.0
// What RecordSplitter does with damage: what is lost is counted, and reading goes on with the first
// record behind it.
#include <algorithm>
#include <utility>

#include "pipeline/decode/json_cursor.h"
#include "pipeline/decode/record_splitter.h"

namespace trainwatch {
namespace {

// A complete record that is far longer than usual is checked as a whole before it is passed on: a
// quote or a bracket that is missing in a part that nobody reads may have made it of several.
constexpr std::size_t kCheckedBytes = 1024;
constexpr std::size_t kUsualRecords = 16;  // over about so many the usual length is averaged
constexpr std::size_t kFarLonger = 8;

// `text` begins with an event, which has a phase, or may be the beginning of one.
bool begins_event(std::string_view text, bool ended) {
  JsonCursor cursor{text};
  cursor.enter();
  for (std::string_view key; cursor.next(key); cursor.value()) {
    if (key == kPhaseKey) return true;
  }
  return cursor.failed() && cursor.ran_out() && !ended;
}

// Where an event begins inside a record, found by layout; npos: nowhere. `ended`: the text is all
// there is of the record.
std::size_t event_inside(std::string_view text, bool ended) {
  RecordStart layout;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (layout.take(text[i]) != RecordStart::Found::record) continue;
    const std::size_t brace = i - layout.held().size();
    layout = {};
    if (begins_event(text.substr(brace), ended)) return brace;
  }
  return std::string_view::npos;
}

// A long record is what it seems to be: it has no error, and swallowed no other one.
bool is_one_record(std::string_view text) {
  return is_well_formed(text) && event_inside(text, true) == std::string_view::npos;
}

}  // namespace

// What belongs to no record; one reject until something good is read.
void RecordSplitter::garbage(std::string_view sample, RecordSink& sink) {
  if (!std::exchange(damaged_, true)) sink.rejected(RejectReason::syntax, sample);
}

// Reads the value of the open member again if its damage made it swallow events.
void RecordSplitter::damaged_member(RejectReason reason, RecordSink& sink) {
  if (!std::exchange(damaged_, true)) sink.rejected(reason, metadata_.value());
  const std::string_view value = metadata_.value();
  const bool swallowed = value.find("\"traceEvents\"") != std::string_view::npos ||
                         value.find(kPhase) != std::string_view::npos;
  if (swallowed) again_ = value;
  account_.rejected += std::exchange(member_, 0) - again_.size();
}

// The first bytes of an object were taken for something else.
void RecordSplitter::begin_record(const std::string& held) {
  account_.skipped -= held.size();
  carry_ = held;
  scan_ = {.depth = 1, .before = '{'};
  separator_ = Separator::record;
  if (!has_events_) object_root_ = false;
  has_events_ = true;
  closed_ = false;
  mode_ = Mode::records;
}

// What begins at `at` is no separator.
std::size_t RecordSplitter::lost(std::string_view bytes, std::size_t at, RecordSink& sink) {
  garbage(bytes.substr(at), sink);
  seek(separator_ == Separator::comma ? RecordStart::after_comma() : RecordStart{});
  return at;
}

void RecordSplitter::seek(RecordStart layout) {
  mode_ = Mode::resync;
  layout_ = std::move(layout);
  scan_ = {};
  window_ = kSmallWindow;
}

bool RecordSplitter::is_suspicious(std::size_t size) {
  const bool longer = size >= kCheckedBytes && size > usual_ / kUsualRecords * kFarLonger;
  usual_ += size - usual_ / kUsualRecords;
  return longer;
}

// A record whose brackets are balanced. False: it is broken.
bool RecordSplitter::complete(std::string_view text, RecordSink& sink) {
  Rejection reason;
  if (text.size() > kMaxRecordBytes) {
    reason = RejectReason::too_long;
  } else if (is_suspicious(text.size()) && !is_one_record(text)) {
    reason = RejectReason::syntax;
  } else {
    reason = sink.record(text);
  }
  if (!reason) {
    account_.records += text.size();
    damaged_ = false;
    return true;
  }
  sink.rejected(*reason, text);
  damaged_ = true;
  const bool whole =
      *reason != RejectReason::too_long && (*reason != RejectReason::syntax || is_one_record(text));
  if (whole) account_.rejected += text.size();
  return whole;
}

// The open record cannot be continued at `end`.
std::size_t RecordSplitter::broken(std::string_view bytes, std::size_t begin, std::size_t end,
                                   RejectReason reason, RecordSink& sink) {
  if (!carry_.empty()) carry_.append(bytes.substr(begin, end - begin));
  const std::string_view text =
      carry_.empty() ? bytes.substr(begin, end - begin) : std::string_view{carry_};
  sink.rejected(reason, text);
  damaged_ = true;
  return read_again(bytes, begin, end, false);
}

// A broken record, [begin, end) or carry_ that ends there, was rejected. Continues at the first
// event inside it; if there is none, behind it.
std::size_t RecordSplitter::read_again(std::string_view bytes, std::size_t begin, std::size_t end,
                                       bool ended) {
  const std::string carried = std::exchange(carry_, {});
  const std::string_view text =
      carried.empty() ? bytes.substr(begin, end - begin) : std::string_view{carried};
  const std::size_t event = event_inside(text, ended);
  scan_ = {};
  window_ = kSmallWindow;
  separator_ = Separator::record;
  if (event == std::string_view::npos) {
    account_.rejected += text.size();
    if (ended) return end;
    RecordStart layout;
    for (const char c : text) layout.take(c);
    account_.rejected -= layout.held().size();
    account_.skipped += layout.held().size();
    seek(layout);
    return end;
  }
  account_.rejected += event;
  if (carried.empty()) return begin + event;
  again_ = carried.substr(event);
  return end;
}

// The quotes are out of step, so only layout shows where a record begins.
std::size_t RecordSplitter::resync(std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    switch (layout_.take(bytes[i])) {
      case RecordStart::Found::record:
        account_.skipped += i;
        begin_record(layout_.held());
        return i;
      case RecordStart::Found::array_end:
        account_.skipped += i;
        ++account_.structure;
        separator_ = Separator::record;
        closed_ = !object_root_;
        mode_ = Mode::array_end;
        return i + 1;
      case RecordStart::Found::key:
      case RecordStart::Found::nothing:
        break;
    }
  }
  account_.skipped += bytes.size();
  return bytes.size();
}

}  // namespace trainwatch
