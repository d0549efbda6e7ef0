// Reads the members of a trace document's root object before and after its array of events, byte by
// byte: they are a few kilobytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trainwatch/state_io.h"

namespace trainwatch {

class DocumentMetadata {
 public:
  enum class Found : std::uint8_t {
    nothing,
    member,       // key() and value() are complete
    last_member,  // the same, and it ends the object
    events,       // the '[' of "traceEvents" was read; the events are not for this class
    damage,       // a line break inside a string; looks for the next key
    end,
  };

  // The next byte, the first after the root's '{' at first.
  Found take(char c);
  // The caller read the ']' of the events.
  void events_end() { at_ = At::separator; }

  bool ended() const { return at_ == At::end; }
  // Inside a key or a value, which the end of input would cut off.
  bool inside_member() const { return at_ != At::separator && at_ != At::end; }
  std::string_view key() const { return key_; }
  // Raw text; empty if the value is longer than kMaxRecordBytes.
  std::string_view value() const { return value_; }

  void state(StateIo& io);

 private:
  enum class At : std::uint8_t { separator, key, colon, value, end, count_ };

  Found take_value(char c);
  Found damaged();
  void append(char c);

  At at_ = At::separator;
  bool in_string_ = false;
  bool escaped_ = false;
  bool too_long_ = false;
  bool damaged_ = false;    // brackets may be out of step: '}' is not trusted as the end
  std::int64_t depth_ = 0;  // of brackets inside the value
  std::string key_;
  std::string value_;
};

}  // namespace trainwatch
