// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/format.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "pipeline/decode/json_cursor.h"
#include "pipeline/decode/json_scanner.h"
#include "pipeline/decode/record_start.h"
#include "pipeline/decode/text_encoding.h"

namespace trainwatch {
namespace {

struct FormatAnswer {
  const Format* format = nullptr;
  Detection detection = Detection::no;
};

// The first row that does not say no.
FormatAnswer ask(FormatTable formats, const FormatClue& clue) {
  for (const Format* const format : formats) {
    const Detection detection = format->detect(clue);
    if (detection != Detection::no) return {format, detection};
  }
  return {};
}

// An object with so many members of events may be a damaged one.
bool has_event_keys(std::string_view text, int least) {
  constexpr std::string_view kKeys[] = {"ph", "ts", "dur", "pid", "tid", "name", "args", "cat"};
  int found = 0;
  JsonCursor cursor{text};
  cursor.enter();
  for (std::string_view key; cursor.next(key); cursor.value()) {
    if (std::ranges::find(kKeys, key) != std::end(kKeys)) ++found;
  }
  return found >= least;
}

// A row that needs a value to decide gets it before any row sees the next member. Null: the object
// is damaged, or an event that may be.
const Format* detect_object(FormatTable formats, std::string_view text, FormatClue clue) {
  clue.kind = FormatClue::Kind::member;
  JsonCursor cursor{text};
  cursor.enter();
  while (cursor.next(clue.key)) {
    clue.value.reset();
    FormatAnswer answer = ask(formats, clue);
    if (answer.detection == Detection::yes) return answer.format;
    clue.value = cursor.value();
    if (cursor.failed()) break;
    if (answer.detection == Detection::undecided) answer = ask(formats, clue);
    if (answer.detection == Detection::yes) return answer.format;
  }
  if (cursor.failed()) return cursor.ran_out() ? &kUndecidedFormat : nullptr;
  const std::size_t behind = cursor.rest().find_first_not_of(" \t\r\n");
  if (behind == std::string_view::npos) return &kUndecidedFormat;
  const bool torn = cursor.rest()[behind] != '{';
  return torn || has_event_keys(text, 2) ? nullptr : &kUnknownFormat;
}

// The same for one element of an array of events.
const Format* detect_event(FormatTable formats, std::string_view element, FormatClue clue) {
  TraceEvent event;
  if (!TraceEventReader{}.read(element, event)) return nullptr;
  if (event.type() == '\0') return has_event_keys(element, 1) ? nullptr : &kUnknownFormat;
  clue.kind = FormatClue::Kind::event;
  clue.event = &event;
  const FormatAnswer answer = ask(formats, clue);
  return answer.detection == Detection::yes ? answer.format : &kUnknownFormat;
}

// The object at the beginning of a text. Empty if it is not complete, which may be for ever.
struct Element {
  std::string_view text{};
  bool torn = false;
};

Element first_object(std::string_view text) {
  ScanState state;
  std::vector<RecordMark> marks;
  const ScanResult result = scan_records(text, state, marks);
  if (marks.size() > 1) return {text.substr(0, marks[1].offset + 1)};
  return {.torn = result.stop != ScanStop::end_of_bytes};
}

// A number or a word, and nothing that shows damage.
bool is_scalar_element(std::string_view text) {
  const std::size_t end = text.find_first_not_of("+-.0123456789abcdefghijklmnopqrstuvwxyz");
  return end != 0 && end != std::string_view::npos && text.find_first_of(",] \n", end) == end;
}

// The first element that is an event decides; empty objects say nothing. Null: there is damage.
const Format* detect_array(FormatTable formats, std::string_view text, const FormatClue& clue) {
  for (;;) {
    const std::size_t begin = text.find_first_not_of(" \t\r\n[,]");
    if (begin == std::string_view::npos) return &kUndecidedFormat;
    text.remove_prefix(begin);
    if (is_scalar_element(text)) return &kUnknownFormat;
    if (text.front() != '{') return nullptr;
    const Element element = first_object(text);
    if (element.text.empty()) return element.torn ? nullptr : &kUndecidedFormat;
    text.remove_prefix(element.text.size());
    const bool empty = element.text.find_first_not_of("{} \t\r\n") == std::string_view::npos;
    if (empty) continue;
    const Format* const format = detect_event(formats, element.text, clue);
    if (format != &kUnknownFormat) return format;
    const std::size_t next = text.find_first_not_of(" \t\r\n");
    if (next == std::string_view::npos) return &kUndecidedFormat;
    return text[next] == ',' || text[next] == ']' ? format : nullptr;
  }
}

// A file that was truncated while a record was being written begins with the rest of that record.
// Null: that may be so here.
const Format* detect_rest_of_record(std::string_view head) {
  const std::size_t end = head.find('\n');
  if (head.substr(0, end).find_first_of("{}[]\"") != std::string_view::npos) return nullptr;
  if (end == std::string_view::npos || end + 1 == head.size()) return &kUndecidedFormat;
  return head[end + 1] == '{' ? nullptr : &kUnknownFormat;
}

// Formats of lines and events are found again behind damage, by the first record that is whole.
const Format* detect_behind_damage(FormatTable formats, std::string_view head,
                                   const FormatClue& clue, bool more) {
  head = head.substr(0, kDamagedBytes);
  more = more && head.size() < kDamagedBytes;
  RecordStart layout = RecordStart::after_comma();
  for (std::size_t at = 0; at < head.size(); ++at) {
    if (layout.take(head[at]) != RecordStart::Found::record) continue;
    const Element element = first_object(head.substr(at - layout.held().size()));
    layout = {};
    if (element.text.empty() && !element.torn && more) return &kUndecidedFormat;
    if (element.text.empty()) continue;
    const Format* format = detect_event(formats, element.text, clue);
    if (format != nullptr && format->detect != nullptr) return format;
    format = detect_object(formats, element.text, clue);
    if (format != nullptr && format->lines) return format;
  }
  return more ? &kUndecidedFormat : &kUnknownFormat;
}

const Format* detect_root(FormatTable formats, std::string_view head, const FormatClue& clue) {
  switch (head.front()) {
    case '{':
      return detect_object(formats, head, clue);
    case '[':
      return detect_array(formats, head, clue);
    case '\xEF':
      return head.size() < 3 ? &kUndecidedFormat : &kUnknownFormat;
    default:
      return detect_rest_of_record(head);
  }
}

// `more`: bytes may follow.
const Format* detect_head(FormatTable formats, std::string_view head, std::string_view path,
                          bool more) {
  const TextEncoding encoding = text_encoding(head);
  if (encoding == TextEncoding::utf16) return &kUtf16Format;
  if (encoding == TextEncoding::utf32) return &kUtf32Format;
  if (encoding == TextEncoding::undecided && more) return &kUndecidedFormat;
  FormatClue clue{.path = path, .head = head, .declared = formats.declared};
  const FormatAnswer answer = ask(formats, clue);
  if (answer.detection == Detection::yes) return answer.format;
  if (answer.detection == Detection::undecided && more) return &kUndecidedFormat;
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  const std::size_t begin = head.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return more ? &kUndecidedFormat : &kUnknownFormat;
  head.remove_prefix(begin);
  const Format* const format = detect_root(formats, head, clue);
  if (format != nullptr && (format != &kUndecidedFormat || more)) return format;
  return detect_behind_damage(formats, head, clue, more);
}

}  // namespace

const Format& detect_format(FormatTable formats, std::string_view head, std::string_view path) {
  head = head.substr(0, kDetectBytes);
  return *detect_head(formats, head, path, head.size() < kDetectBytes);
}

const Format& detect_whole_file(FormatTable formats, std::string_view contents,
                                std::string_view path) {
  contents = contents.substr(0, kDetectBytes);
  const Format& format = *detect_head(formats, contents, path, false);
  const bool known = &format != &kUndecidedFormat && &format != &kUnknownFormat;
  return means_nothing(contents) && !known ? kEmptyFormat : format;
}

bool means_nothing(std::string_view contents) {
  return contents.find_first_not_of(" \t\r\n[],{}") == std::string_view::npos;
}

const Format* find_format(FormatTable formats, std::string_view name) {
  for (const Format* const known :
       {&kUndecidedFormat, &kUnknownFormat, &kEmptyFormat, &kUtf16Format, &kUtf32Format}) {
    if (known->name == name) return known;
  }
  for (const Format* const format : formats) {
    if (format->name == name) return format;
  }
  return nullptr;
}

}  // namespace trainwatch
