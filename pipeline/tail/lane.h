// What the name of a file says about its place among the others, for every layout that SageMaker
// Debugger, Kineto and the TensorFlow profiler write. Pure functions of the path.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace trainwatch {

// In which order files are read: by the time stamp in the name, then by path, and of a rotated file
// the oldest piece first ("a.jsonl.2", "a.jsonl.1.gz", "a.jsonl").
struct ReadOrder {
  // Files without a stamp, an open "<node>_pythontimeline.json.tmp" among them, come last.
  static constexpr std::int64_t kNoStamp = std::numeric_limits<std::int64_t>::max();

  std::int64_t stamp_ns = kNoStamp;
  std::string base;      // the path without what rotation, compression and .tmp add to it
  std::int64_t age = 0;  // 0: not rotated; less: rotated, the lower the earlier
  std::int64_t lost =
      0;  // less: it has no name any more, and was written before the one of this age
  std::string path;
  auto operator<=>(const ReadOrder&) const = default;
};

inline bool is_compressed(const ReadOrder& order) {
  return order.path.ends_with(".gz") || order.path.ends_with(".gz.tmp");
}

struct FilePlace {
  std::string lane;     // files of one writer, written one after another, share it
  bool single = false;  // the lane is this file alone
  ReadOrder order;
};

FilePlace place_of(const std::string& path);

// True for names that may hold a trace or metrics: .json, .jsonl or .ndjson, compressed (.gz) or
// not, finished or still being written (.tmp), rotated (".1", "-20261121") or not.
bool is_trace_name(std::string_view name);

// A time stamp of 10 (s), 13 (ms), 16 (us) or 19 (ns) digits in nanoseconds; kNoStamp for all else.
std::int64_t stamp_of(std::string_view digits);

}  // namespace trainwatch
