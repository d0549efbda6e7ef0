#include "pipeline/decode/format.h"

#include "pipeline/decode/json_cursor.h"

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

// A row that needs a value to decide gets it before any row sees the next member.
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
  return cursor.failed() && cursor.ran_out() ? &kUndecidedFormat : &kUnknownFormat;
}

// The first element that is an event decides; empty objects say nothing.
const Format* detect_array(FormatTable formats, std::string_view text, FormatClue clue) {
  clue.kind = FormatClue::Kind::event;
  for (;;) {
    const std::size_t begin = text.find_first_not_of(" \t\r\n[,]");
    if (begin == std::string_view::npos) return &kUndecidedFormat;
    text.remove_prefix(begin);
    if (text.front() != '{') return &kUnknownFormat;
    JsonCursor cursor{text};
    const std::string_view element = cursor.value();
    if (cursor.failed()) return &kUndecidedFormat;
    text.remove_prefix(element.size());
    TraceEvent event;
    if (!TraceEventReader{}.read(element, event)) return &kUnknownFormat;
    if (event.type() != '\0') {
      clue.event = &event;
      const FormatAnswer answer = ask(formats, clue);
      return answer.detection == Detection::yes ? answer.format : &kUnknownFormat;
    }
    const bool empty = element.find_first_not_of("{} \t\r\n") == std::string_view::npos;
    if (!empty) return &kUnknownFormat;
  }
}

// A file that was truncated while a line was being written begins with the rest of that line, and a
// power failure may have torn the next ones. Formats of lines are found again behind them.
const Format* detect_behind_torn_lines(FormatTable formats, std::string_view head,
                                       const FormatClue& clue) {
  constexpr int kMaxTornLines = 4;
  for (int torn = 1; torn <= kMaxTornLines; ++torn) {
    const std::size_t end = head.find('\n');
    if (end == std::string_view::npos) return &kUndecidedFormat;
    head.remove_prefix(end + 1);
    const std::string_view line = head.substr(0, head.find('\n'));
    const bool whole = line.size() < head.size();
    if (line.empty() && !whole) return &kUndecidedFormat;
    if (!line.starts_with('{')) return &kUnknownFormat;
    const Format* const format = detect_object(formats, line, clue);
    if (format->lines || (format == &kUndecidedFormat && !whole)) return format;
  }
  return &kUnknownFormat;
}

const Format* detect_head(FormatTable formats, std::string_view head, std::string_view path) {
  FormatClue clue{.path = path, .head = head};
  const FormatAnswer answer = ask(formats, clue);
  if (answer.detection == Detection::yes) return answer.format;
  if (answer.detection == Detection::undecided) return &kUndecidedFormat;
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  const std::size_t begin = head.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return &kUndecidedFormat;
  head.remove_prefix(begin);
  switch (head.front()) {
    case '{':
      return detect_object(formats, head, clue);
    case '[':
      return detect_array(formats, head, clue);
    case '\xEF':
      return head.size() < 3 ? &kUndecidedFormat : &kUnknownFormat;
    default:
      return detect_behind_torn_lines(formats, head, clue);
  }
}

}  // namespace

const Format& detect_format(FormatTable formats, std::string_view head, std::string_view path) {
  head = head.substr(0, kDetectBytes);
  const Format* const format = detect_head(formats, head, path);
  const bool gave_up = format == &kUndecidedFormat && head.size() == kDetectBytes;
  return gave_up ? kUnknownFormat : *format;
}

const Format& detect_whole_file(FormatTable formats, std::string_view contents,
                                std::string_view path) {
  const Format& format = detect_format(formats, contents, path);
  if (&format != &kUndecidedFormat) return format;
  const bool nothing = contents.find_first_not_of(" \t\r\n[],{}") == std::string_view::npos;
  return nothing ? kEmptyFormat : kUnknownFormat;
}

const Format* find_format(FormatTable formats, std::string_view name) {
  for (const Format* const known : {&kUndecidedFormat, &kUnknownFormat, &kEmptyFormat}) {
    if (known->name == name) return known;
  }
  for (const Format* const format : formats) {
    if (format->name == name) return format;
  }
  return nullptr;
}

}  // namespace trainwatch
