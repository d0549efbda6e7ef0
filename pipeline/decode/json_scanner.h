// SPDX-License-Identifier: Apache-2.0
// Finds where the objects of a growing JSON array begin and end, at several gigabytes per second
// and without checking what is inside them. Aware of strings, with all state carried, so that bytes
// may be cut anywhere.
//
// Damage is detected where it would hide all later boundaries:
//  * a line break inside a string: JSON has none, so a quote was not escaped, or a record was torn;
//  * an object that begins a line ("\n{") while another one is open: writers of nested objects
//    indent them, so the open one was torn by a crash and its file was appended to;
//  * an object that follows a comma directly inside a record, where only a key may: a bracket of
//  the
//    record is missing or too many;
//  * brackets nested deeper than kMaxDepth.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace trainwatch {

// Brackets inside a record, its own '{' included. Real traces nest 8 deep at most.
inline constexpr std::int64_t kMaxDepth = 64;

struct ScanState {
  std::int64_t depth = 0;  // open brackets, 0 between records
  bool in_string = false;
  bool escaped = false;     // the last byte was a backslash that escapes the next byte
  bool line_start = false;  // the last byte was a line break
  char before = '\0';       // the last byte that is not white space
};

enum class RecordEdge : std::uint32_t { begin, end };  // '{' and '}'

// Where a record begins or ends. Without padding, which hardening would zero in a store of its own.
struct RecordMark {
  std::uint32_t offset = 0;
  RecordEdge edge = RecordEdge::begin;
};

enum class ScanStop : std::uint8_t {
  end_of_bytes,
  closed,         // ']' between records; consumed
  broken_string,  // a line break inside a string; not consumed
  torn,           // a '{' that cannot be inside this record; not consumed
  too_deep,       // a bracket beyond kMaxDepth; not consumed
};

struct ScanResult {
  std::size_t consumed = 0;
  ScanStop stop = ScanStop::end_of_bytes;
};

// Scans up to the first stop and appends the marks in order. Whatever stands between records is
// for the caller to look at, '[' and '}' included. At most 4 GiB at once.
ScanResult scan_records(std::string_view bytes, ScanState& state, std::vector<RecordMark>& marks);

// The same, one byte at a time: for machines without AVX2, and what the fast one is tested against.
ScanResult scan_records_scalar(std::string_view bytes, ScanState& state,
                               std::vector<RecordMark>& marks);

}  // namespace trainwatch
