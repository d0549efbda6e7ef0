// Reads the members of the root object of a trace document around its array of events, one byte at
// a time: they are few kilobytes, before or after the events.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trainwatch/state_io.h"

namespace trainwatch {

class RootMembers {
 public:
  enum class Found : std::uint8_t {
    nothing,
    member,       // key() and value() are complete
    last_member,  // the same, and the object ends with it
    events,       // the '[' of "traceEvents" was read; what follows is not for this class
    damage,       // a line break inside a string; looks for the next key
    end,
  };

  // The next byte; the first one is what follows the root's '{'.
  Found take(char c);
  // The ']' of the events was read elsewhere.
  void events_end() { at_ = At::separator; }

  bool ended() const { return at_ == At::end; }
  // Inside a key or a value, so that the end of input would cut it off.
  bool inside_member() const { return at_ != At::separator && at_ != At::end; }
  std::string_view key() const { return key_; }
  // Raw text. A value above the size limit of a record is empty.
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
