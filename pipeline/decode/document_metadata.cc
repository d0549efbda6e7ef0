#include "pipeline/decode/document_metadata.h"

#include "pipeline/decode/record_splitter.h"

namespace trainwatch {

DocumentMetadata::Found DocumentMetadata::take(char c) {
  switch (at_) {
    case At::separator:
      if (c == '"') {
        key_.clear();
        at_ = At::key;
      } else if (c == '}' && !damaged_) {
        at_ = At::end;
        return Found::end;
      }
      return Found::nothing;
    case At::key:
      if (c == '\n' || key_.size() > kMaxRecordBytes) return damaged();
      if (c == '"') {
        at_ = At::colon;
      } else {
        key_ += c;
      }
      return Found::nothing;
    case At::colon:
      if (c == ':') {
        value_.clear();
        too_long_ = false;
        depth_ = 0;
        at_ = At::value;
      } else if (c == ',' || c == '}' || c == '"') {
        return damaged();
      }
      return Found::nothing;
    case At::value:
      return take_value(c);
    case At::end:
    case At::count_:
      break;
  }
  return Found::nothing;
}

DocumentMetadata::Found DocumentMetadata::take_value(char c) {
  if (in_string_) {
    if (c == '\n') return damaged();
    const bool was_escaped = escaped_;
    escaped_ = !was_escaped && c == '\\';
    if (c == '"' && !was_escaped) in_string_ = false;
    append(c);
    return Found::nothing;
  }
  const bool close = c == '}' || c == ']';
  if (depth_ == 0 && (c == ',' || close)) {
    while (!value_.empty() && (value_.back() == ' ' || value_.back() == '\n')) value_.pop_back();
    const bool last = c == '}' && !damaged_;
    at_ = last ? At::end : At::separator;
    return last ? Found::last_member : Found::member;
  }
  if (c == '[' && depth_ == 0 && key_ == "traceEvents" && value_.empty()) {
    damaged_ = false;  // the array's own end brings the brackets back into step
    return Found::events;
  }
  if (c == '"') in_string_ = true;
  if (c == '{' || c == '[') ++depth_;
  if (close) --depth_;
  if (!value_.empty() || (c != ' ' && c != '\n' && c != '\t' && c != '\r')) append(c);
  return Found::nothing;
}

DocumentMetadata::Found DocumentMetadata::damaged() {
  at_ = At::separator;
  in_string_ = escaped_ = false;
  damaged_ = true;
  return Found::damage;
}

void DocumentMetadata::append(char c) {
  if (too_long_) return;
  value_ += c;
  if (value_.size() <= kMaxRecordBytes) return;
  value_.clear();
  value_.shrink_to_fit();
  too_long_ = true;
}

void DocumentMetadata::state(StateIo& io) {
  io(at_);
  io(in_string_);
  io(escaped_);
  io(too_long_);
  io(damaged_);
  io(depth_);
  io(key_);
  io(value_);
  if (at_ >= At::count_) io.fail();
}

}  // namespace trainwatch
