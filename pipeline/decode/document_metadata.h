// SPDX-License-Identifier: Apache-2.0
// Reads the members of a trace document's root object before and after its array of events: a few
// kilobytes, but of a small trace a fifth. After damage the next key, or the next event, is found
// by layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "pipeline/decode/record_start.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

class DocumentMetadata {
 public:
  enum class Found : std::uint8_t {
    nothing,
    member,         // key() and value() are complete
    last_member,    // the same, and it ends the object
    events,         // the '[' of "traceEvents" was read; the events are not for this class
    events_inside,  // value() is the beginning of an array of events under a damaged key
    record,         // after damage: this quote is the first of an event, see held()
    damage,         // this byte is not JSON here: to be given again, after value(), which is
                    // what was read of the open member's value
    too_long,       // a value above kMaxRecordBytes; the same
    end,            // the object's '}' was read
  };

  // The next byte, the first after the root's '{' at first.
  Found take(char c);
  // As many of the next bytes as only continue the open value, which take() would find nothing in.
  std::size_t take_plain(std::string_view bytes);
  // The caller read the ']' of the events.
  void events_end();
  // The caller knows of damage before the next byte.
  void damaged() { damage(Found::damage); }

  // Inside a key or a value, which the end of input would cut off.
  bool inside_member() const {
    return at_ == At::key || at_ == At::colon || at_ == At::value || at_ == At::bare;
  }
  // Looking for what comes after damage.
  bool lost() const { return at_ == At::lost; }
  const std::string& held() const { return layout_.held(); }
  std::string_view key() const { return key_; }
  std::string_view value() const { return value_; }

  void state(StateIo& io);

 private:
  enum class At : std::uint8_t {
    first,  // the first member, or the end
    separator,
    key,
    colon,
    value,      // before its first byte, or inside a string or brackets
    bare,       // inside any other value
    separated,  // after a comma
    lost,
    count_
  };

  Found take_key(char c);
  Found take_value(char c);
  Found take_first_of_value(char c);
  Found take_lost(char c);
  Found end_member(char c);
  Found open_bracket(char c);
  Found close_bracket(char c);
  Found damage(Found what);
  Found append(char c);

  At at_ = At::first;
  bool in_string_ = false;
  bool escaped_ = false;
  bool damaged_ = false;        // brackets may be out of step: '}' is not trusted as the end
  std::uint64_t element_ = 0;   // where the last element of the value begins, if it is an array
  std::uint64_t brackets_ = 0;  // open ones inside the value: 1 is an object, the last one lowest
  std::int64_t depth_ = 0;      // how many these are
  RecordStart layout_;
  std::string key_;
  std::string value_;  // raw text
};

}  // namespace trainwatch
