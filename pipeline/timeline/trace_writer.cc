#include "pipeline/timeline/trace_writer.h"

namespace trainwatch {

void TraceWriter::begin(Root root) {
  root_ = root;
  if (root_ == Root::object) out_.write("{");
}

bool TraceWriter::member(std::string_view text) {
  if (root_ == Root::array) return false;
  if (in_events_) {
    if (late_.size() + text.size() > kMostLateBytes) return false;
    late_.append(",\n").append(text);
    return true;
  }
  out_.write(first_ ? "\n" : ",\n");
  out_.write(text);
  first_ = false;
  return true;
}

void TraceWriter::open_events() {
  if (root_ == Root::object) out_.write(first_ ? "\n\"traceEvents\": " : ",\n\"traceEvents\": ");
  out_.write("[");
  in_events_ = true;
  first_ = true;
}

void TraceWriter::event(std::string_view text) {
  if (!in_events_) open_events();
  out_.write(first_ ? "\n" : ",\n");
  out_.write(text);
  first_ = false;
}

void TraceWriter::finish() {
  if (!in_events_) open_events();
  out_.write("\n]");
  out_.write(late_);
  out_.write(root_ == Root::object ? "\n}\n" : "\n");
}

}  // namespace trainwatch
