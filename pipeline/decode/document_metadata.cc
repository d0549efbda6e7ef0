// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/document_metadata.h"

#include <algorithm>
#include <iterator>

#include "pipeline/decode/json_scanner.h"
#include "pipeline/decode/record_splitter.h"

namespace trainwatch {
namespace {

// Members of an event: the root has none of them.
constexpr std::string_view kEventKeys[] = {"ph", "ts", "dur", "args"};

// Inside a string.
bool may_end_text(char c) {
  return c == '"' || c == '\\' || c == '\n';
}

// Inside brackets, outside of strings.
bool may_end_run(char c) {
  return c == '"' || c == '{' || c == '}' || c == '[' || c == ']';
}

}  // namespace

DocumentMetadata::Found DocumentMetadata::take(char c) {
  switch (at_) {
    case At::key:
      return take_key(c);
    case At::value:
    case At::bare:
      return take_value(c);
    case At::lost:
      return take_lost(c);
    default:
      break;
  }
  if (is_json_space(c)) return Found::nothing;
  if (at_ == At::colon) {
    if (c != ':') return damage(Found::damage);
    at_ = At::value;
  } else if (c == '"' && at_ != At::separator) {
    at_ = At::key;
    key_.clear();
  } else if (c == ',' && at_ == At::separator) {
    at_ = At::separated;
  } else if (c == '}' && damaged_) {
    at_ = At::lost;
    layout_ = {};
  } else if (c == '}' && at_ != At::separated) {
    return Found::end;
  } else {
    return damage(Found::damage);
  }
  return Found::nothing;
}

std::size_t DocumentMetadata::take_plain(std::string_view bytes) {
  if (at_ != At::value || escaped_ || (!in_string_ && depth_ == 0)) return 0;
  bytes = bytes.substr(0, kMaxRecordBytes - value_.size());
  const auto end = in_string_ ? std::ranges::find_if(bytes, may_end_text)
                              : std::ranges::find_if(bytes, may_end_run);
  const auto size = static_cast<std::size_t>(end - bytes.begin());
  value_.append(bytes.substr(0, size));
  return size;
}

DocumentMetadata::Found DocumentMetadata::take_key(char c) {
  if (c == '\n') return damage(Found::damage);
  if (key_.size() > kMaxRecordBytes) return damage(Found::too_long);
  const bool was_escaped = escaped_;
  escaped_ = !was_escaped && c == '\\';
  if (c != '"' || was_escaped) {
    key_ += c;
    return Found::nothing;
  }
  if (std::ranges::find(kEventKeys, key_) != std::end(kEventKeys)) return damage(Found::damage);
  at_ = At::colon;
  value_.clear();
  element_ = 0;
  brackets_ = 0;
  depth_ = 0;
  return Found::nothing;
}

DocumentMetadata::Found DocumentMetadata::take_value(char c) {
  if (in_string_) {
    if (c == '\n') return damage(Found::damage);
    const bool was_escaped = escaped_;
    escaped_ = !was_escaped && c == '\\';
    if (c == '"' && !was_escaped) in_string_ = false;
    const Found found = append(c);
    if (in_string_ || depth_ > 0 || found != Found::nothing) return found;
    at_ = At::separator;
    return Found::member;
  }
  if (depth_ == 0) return take_first_of_value(c);
  if (c == '"') in_string_ = true;
  if (c == '{' || c == '[') return open_bracket(c);
  if (c == '}' || c == ']') return close_bracket(c);
  return append(c);
}

// Outside of brackets: the first byte of a value, or a value that has neither brackets nor quotes.
DocumentMetadata::Found DocumentMetadata::take_first_of_value(char c) {
  const bool begun = at_ == At::bare;
  if (is_json_space(c)) return begun ? end_member(c) : Found::nothing;
  if (c == ',' || c == '}') return end_member(c);
  if (begun && (c == '"' || c == ':' || c == '{' || c == '[')) return damage(Found::damage);
  if (c == ']') return damage(Found::damage);
  if (c == '[' && key_ == "traceEvents") {
    at_ = At::separator;
    damaged_ = false;  // the array's own end brings the brackets back into step
    return Found::events;
  }
  if (c == '"') {
    in_string_ = true;
  } else if (c == '{' || c == '[') {
    return open_bracket(c);
  } else {
    at_ = At::bare;
  }
  return append(c);
}

DocumentMetadata::Found DocumentMetadata::open_bracket(char c) {
  if (depth_ == kMaxDepth) return damage(Found::damage);
  ++depth_;
  brackets_ = brackets_ << 1U | (c == '{' ? 1U : 0U);
  return append(c);
}

DocumentMetadata::Found DocumentMetadata::close_bracket(char c) {
  if ((brackets_ & 1U) != (c == '}' ? 1U : 0U)) return damage(Found::damage);
  brackets_ >>= 1U;
  --depth_;
  if (const Found found = append(c); found != Found::nothing) return found;
  if (depth_ == 0) {
    at_ = At::separator;
    return Found::member;
  }
  // Only events have a phase, so this is their array, whatever its key says.
  if (depth_ == 1 && c == '}' && value_.front() == '[') {
    const std::size_t found = value_.find(kPhase, element_);
    element_ = value_.size();
    if (found != std::string::npos) {
      at_ = At::separator;
      damaged_ = false;
      return Found::events_inside;
    }
  }
  return Found::nothing;
}

// Ends the open member at `c`, which does not belong to it.
DocumentMetadata::Found DocumentMetadata::end_member(char c) {
  at_ = c == ',' ? At::separated : At::separator;
  if (c == '}' && damaged_) at_ = At::lost;
  return c == '}' && !damaged_ ? Found::last_member : Found::member;
}

DocumentMetadata::Found DocumentMetadata::take_lost(char c) {
  switch (layout_.take(c)) {
    case RecordStart::Found::key:
      at_ = At::key;
      key_.clear();
      return Found::nothing;
    case RecordStart::Found::record:
      at_ = At::separator;
      damaged_ = false;
      return Found::record;
    default:
      return Found::nothing;
  }
}

void DocumentMetadata::events_end() {
  layout_ = {};
  at_ = At::separated;
  value_.clear();
  element_ = 0;
  key_.clear();
}

DocumentMetadata::Found DocumentMetadata::damage(Found what) {
  const bool in_value = at_ == At::value || at_ == At::bare;
  if (!in_value) {
    value_.clear();
    element_ = 0;
  }
  layout_ = in_value || at_ == At::key ? RecordStart{} : RecordStart::after_comma();
  at_ = At::lost;
  in_string_ = escaped_ = false;
  damaged_ = true;
  return what;
}

DocumentMetadata::Found DocumentMetadata::append(char c) {
  if (value_.size() == kMaxRecordBytes) return damage(Found::too_long);
  value_ += c;
  return Found::nothing;
}

void DocumentMetadata::state(StateIo& io) {
  io(at_);
  io(in_string_);
  io(escaped_);
  io(damaged_);
  io(element_);
  io(brackets_);
  io(depth_);
  io(layout_);
  io(key_);
  io(value_);
  if (at_ >= At::count_ || element_ > value_.size() || depth_ < 0 || depth_ > kMaxDepth) io.fail();
}

}  // namespace trainwatch
