// SPDX-License-Identifier: Apache-2.0
// A file as its writer knows it: which records stand where.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/oracle.h"

namespace trainwatch::test {

struct Piece {
  struct Mark {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;  // where the record ends when it is complete
    std::size_t record = 0;
  };

  std::string path;
  std::vector<Mark> marks;
  std::uint64_t synced = 0;  // bytes that a power failure cannot take
  // Of a compressed one: how much of its content was taken in for good while it was plain.
  std::optional<std::uint64_t> safe_when_plain;

  // The records that have a byte at or after `offset` may never be seen.
  void doubt_from(std::uint64_t offset, LaneLog& log) const {
    for (const Mark& mark : marks) {
      if (mark.end > offset) log.doubt(mark.record);
    }
  }
  void forget_from(std::uint64_t offset) {
    std::erase_if(marks, [offset](const Mark& mark) { return mark.begin >= offset; });
    synced = std::min(synced, offset);
  }
};

}  // namespace trainwatch::test
