// SPDX-License-Identifier: Apache-2.0
// What became of the bytes of one file. Each byte is counted once, so that the four add up to all
// bytes that were read; an open record is counted when it ends.
#pragma once

#include <algorithm>
#include <cstdint>

namespace trainwatch {

struct ByteAccount {
  std::uint64_t records = 0;    // good records, and the members around the events of a document
  std::uint64_t rejected = 0;   // records that were rejected
  std::uint64_t skipped = 0;    // part of no record: at least one reject says so
  std::uint64_t structure = 0;  // white space, brackets and separators between records

  std::uint64_t total() const { return records + rejected + skipped + structure; }

  ByteAccount& operator+=(const ByteAccount& other) {
    records += other.records;
    rejected += other.rejected;
    skipped += other.skipped;
    structure += other.structure;
    return *this;
  }
  ByteAccount& operator-=(const ByteAccount& other) {
    records -= other.records;
    rejected -= other.rejected;
    skipped -= other.skipped;
    structure -= other.structure;
    return *this;
  }

  // The writer removed the separator after the last record.
  void cut_back(std::uint64_t bytes) { structure -= std::min(bytes, structure); }
};

}  // namespace trainwatch
