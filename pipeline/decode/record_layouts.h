// SPDX-License-Identifier: Apache-2.0
// How the records of a file are laid out. A writer repeats a few layouts for ever: the same keys in
// the same order and with the same spaces, so that only values differ. A record of a known layout
// is read by comparing the text between its values, and no key is looked up.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/decode/json_cursor.h"

namespace trainwatch {

// `Record` has a type `Member` that identifies its members; a default-constructed one stands for
// values that nobody needs. Its `bool take(Member, std::string_view value)` returns true if the
// rest of the record is not needed.
//
// The layouts are a tree, because most begin alike: each part is the text from the end of one value
// to the beginning of the next, and the parts that may follow are its children. A part stands for
// one and the same place in a record as long as a value follows at once that is no object; other
// records have no known layout.
template <class Record>
class RecordLayouts {
 public:
  using Member = typename Record::Member;  // of the value after a part

  // False: the layout is not known; `out` may have been written to.
  bool read(std::string_view record, Record& out) const;
  // The same for any record, whose layout is remembered. `member_of(key)` and, for the members of
  // "args", `argument_of(key)` say what a value is for. False: the record is broken.
  template <class MemberOf, class ArgumentOf>
  bool read_by_key(std::string_view record, Record& out, MemberOf&& member_of,
                   ArgumentOf&& argument_of);

 private:
  using PartId = std::uint32_t;
  static constexpr PartId kStart = 0;      // what the first part of a record follows
  static constexpr PartId kUnknown = ~0U;  // a part that is not remembered, and what follows it

  // Remembers that `text` follows `before` and its value, if there is room.
  PartId add(PartId before, std::string_view text, Member member) {
    return add(before, text, member, false);
  }
  // The same with the end of a record.
  void add_end(PartId before, std::string_view text) { add(before, text, {}, true); }

  static constexpr std::size_t kMaxParts = 128;
  static constexpr std::size_t kMaxText = 52;

  struct Part {
    Member member{};
    std::uint16_t begin = 0;  // of its text, in texts_
    std::uint8_t size = 0;
    bool end = false;
    std::uint8_t child = 0;    // the first part that may follow; 0: none
    std::uint8_t sibling = 0;  // the next part that may come instead; 0: none
  };

  std::string_view text_of(const Part& part) const {
    return {texts_.data() + part.begin, part.size};
  }

  PartId add(PartId before, std::string_view text, Member member, bool end);

  std::vector<Part> parts_{1};
  std::string texts_;
};

template <class Record>
bool RecordLayouts<Record>::read(std::string_view record, Record& out) const {
  JsonCursor cursor{record};
  for (std::size_t at = parts_[kStart].child; at != 0;) {
    const Part& part = parts_[at];
    if (!cursor.skip_text(text_of(part))) {
      at = part.sibling;
      continue;
    }
    if (part.end) return cursor.rest().empty();
    std::string_view value;
    if (!cursor.value_at_once(value)) return false;
    if (part.member != Member{} && out.take(part.member, value)) return true;
    at = part.child;
  }
  return false;
}

template <class Record>
template <class MemberOf, class ArgumentOf>
bool RecordLayouts<Record>::read_by_key(std::string_view record, Record& out, MemberOf&& member_of,
                                        ArgumentOf&& argument_of) {
  JsonCursor cursor{record};
  cursor.enter();
  const char* begin = record.data();  // of the text between two values
  PartId part = kStart;
  bool in_args = false;
  for (std::string_view key;;) {
    if (!cursor.next(key)) {
      if (cursor.failed()) return false;
      if (!in_args) break;
      in_args = false;
    } else if (!in_args && key == "args" && cursor.at_object()) {
      cursor.enter();
      in_args = true;
    } else {
      const std::string_view value = cursor.value();
      const Member member = in_args ? argument_of(key) : member_of(key);
      part = add(part, {begin, value.data()}, member);
      begin = value.data() + value.size();
      if (member != Member{} && out.take(member, value)) return !cursor.failed();
    }
  }
  // Brackets that are balanced, but not as they should be.
  if (!cursor.rest().empty()) return false;
  add_end(part, {begin, cursor.rest().data()});
  return true;
}

template <class Record>
typename RecordLayouts<Record>::PartId RecordLayouts<Record>::add(PartId before,
                                                                  std::string_view text,
                                                                  Member member, bool end) {
  if (before == kUnknown || text.size() > kMaxText) return kUnknown;
  const PartId first = parts_[before].child;
  for (PartId at = first; at != 0; at = parts_[at].sibling) {
    if (text_of(parts_[at]) == text) return at;
  }
  if (parts_.size() == kMaxParts) return kUnknown;
  const auto added = static_cast<std::uint8_t>(parts_.size());
  Part& part = parts_.emplace_back();
  part.begin = static_cast<std::uint16_t>(texts_.size());
  texts_ += text;
  part.size = static_cast<std::uint8_t>(text.size());
  part.end = end;
  part.sibling = static_cast<std::uint8_t>(first);  // spans come after metadata, and oftener
  part.member = member;
  parts_[before].child = added;
  return added;
}

}  // namespace trainwatch
