#include "pipeline/decode/recogniser.h"

#include "pipeline/decode/json_cursor.h"
#include "pipeline/decode/json_text.h"
#include "pipeline/decode/trace_event.h"

namespace trainwatch {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

// A key of the first object of a file, and what only files of one format have it.
struct Signature {
  std::string_view key;
  std::string_view in_value;  // and this must be inside its value
  Format format;
};

constexpr Signature kSignatures[] = {
    {"NodeId", "", Format::system_metrics},
    {"Dimension", "", Format::system_metrics},
    {"Timestamp", "", Format::system_metrics},
    {"Type", "", Format::system_metrics},
    {"metadata", "\"highres-ticks\"", Format::tensorflow_trace},
    {"schemaVersion", "", Format::chrome_trace},
    {"deviceProperties", "", Format::chrome_trace},
    {"computeProperties", "", Format::chrome_trace},
    {"distributedInfo", "", Format::chrome_trace},
    {"baseTimeNanoseconds", "", Format::chrome_trace},
    {"traceName", "", Format::chrome_trace},
};

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// An object root whose keys before "traceEvents" are common to several writers.
Format by_path(std::string_view path) {
  const bool tensorflow = contains(path, "tensorflow/") || contains(path, "plugins/profile/");
  return tensorflow && !contains(path, ".pt.trace.json") ? Format::tensorflow_trace
                                                         : Format::chrome_trace;
}

Format recognise_object(std::string_view text, std::string_view path) {
  JsonCursor cursor{text};
  cursor.enter();
  for (std::string_view key; cursor.next(key);) {
    if (key == "traceEvents") return by_path(path);
    const bool simple = key != "metadata";
    const std::string_view value = simple ? std::string_view{} : cursor.value();
    if (cursor.failed()) break;
    for (const Signature& signature : kSignatures) {
      if (key == signature.key && contains(value, signature.in_value)) return signature.format;
    }
    if (simple) cursor.value();
  }
  return cursor.failed() && cursor.ran_out() ? Format::undecided : Format::unknown;
}

// The events of PyTorch have a category or, from builds without Kineto, a thread; those of
// SageMaker's writers have neither, and its metadata no time.
Format recognise_event(const TraceEvent& event, std::string_view path) {
  if (!event.category.empty()) return Format::chrome_trace;
  if (!event.start_time_us.empty()) return Format::timeline;
  if (contains(path, "timeline.json")) return Format::timeline;
  const bool metadata_with_time = event.type() == 'M' && !event.ts.empty();
  const bool span_of_thread = event.type() == 'X' && !event.tid.empty();
  return metadata_with_time || span_of_thread ? Format::chrome_trace : Format::timeline;
}

Format recognise_array(std::string_view text, std::string_view path) {
  for (;;) {
    const std::size_t begin = text.find_first_not_of(" \t\r\n[,]");
    if (begin == std::string_view::npos) return Format::undecided;
    text.remove_prefix(begin);
    if (text.front() != '{') return Format::unknown;
    JsonCursor cursor{text};
    const std::string_view element = cursor.value();
    if (cursor.failed()) return Format::undecided;
    text.remove_prefix(element.size());
    TraceEvent event;
    if (!read_trace_event(element, event)) return Format::unknown;
    if (event.type() != '\0') return recognise_event(event, path);
    const bool empty = element.find_first_not_of("{} \t\r\n") == std::string_view::npos;
    if (!empty) return Format::unknown;
  }
}

// A file that was truncated while a line was being written begins with the rest of that line, and a
// power failure may have torn the next ones. Only lines of system metrics are found again behind.
Format look_behind_torn_lines(std::string_view head, std::string_view path) {
  constexpr int kMost = 4;
  for (int torn = 1; torn <= kMost; ++torn) {
    const std::size_t end = head.find('\n');
    if (end == std::string_view::npos) return Format::undecided;
    head.remove_prefix(end + 1);
    const std::string_view line = head.substr(0, head.find('\n'));
    const bool whole = line.size() < head.size();
    if (line.empty() && !whole) return Format::undecided;
    if (!line.starts_with('{')) return Format::unknown;
    const Format format = recognise_object(line, path);
    if (format == Format::system_metrics || (format == Format::undecided && !whole)) return format;
  }
  return Format::unknown;
}

Format look(std::string_view head, std::string_view path) {
  if (path.ends_with(".ts")) return Format::empty;
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  const std::size_t begin = head.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return Format::undecided;
  head.remove_prefix(begin);
  switch (head.front()) {
    case '{':
      return recognise_object(head, path);
    case '[':
      return recognise_array(head, path);
    case '\xEF':
      return head.size() < 3 ? Format::undecided : Format::unknown;
    default:
      return look_behind_torn_lines(head, path);
  }
}

}  // namespace

std::string_view to_string(Format format) {
  switch (format) {
    case Format::undecided:
      return "undecided";
    case Format::unknown:
      return "unknown";
    case Format::empty:
      return "empty";
    case Format::system_metrics:
      return "system_metrics";
    case Format::timeline:
      return "timeline";
    case Format::chrome_trace:
      return "chrome_trace";
    case Format::tensorflow_trace:
      return "tensorflow_trace";
  }
  return "unknown";
}

Format recognise(std::string_view head, std::string_view path) {
  head = head.substr(0, kRecogniseBytes);
  const Format format = look(head, path);
  const bool gave_up = format == Format::undecided && head.size() == kRecogniseBytes;
  return gave_up ? Format::unknown : format;
}

Format recognise_all(std::string_view contents, std::string_view path) {
  const Format format = recognise(contents, path);
  if (format != Format::undecided) return format;
  const bool nothing = contents.find_first_not_of(" \t\r\n[],{}") == std::string_view::npos;
  return nothing ? Format::empty : Format::unknown;
}

}  // namespace trainwatch
