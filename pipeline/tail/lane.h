// SPDX-License-Identifier: Apache-2.0
// The position of a file among the others, derived from its name, for every layout of SageMaker
// Debugger, Kineto and the TensorFlow profiler. Pure functions of the path.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace trainwatch {

// The order in which files are read: by the time stamp in the name, then by path, and the pieces of
// a rotated file oldest first ("a.jsonl.2", "a.jsonl.1.gz", "a.jsonl").
struct ReadOrder {
  // Files without a stamp come last, such as an open "<node>_pythontimeline.json.tmp".
  static constexpr std::int64_t kNoStamp = std::numeric_limits<std::int64_t>::max();

  std::int64_t stamp_ns = kNoStamp;
  std::string base;      // the path without the suffixes of rotation, compression and .tmp
  std::int64_t age = 0;  // 0: not rotated; negative: rotated, lower is older
  // Negative: it has no name any more, and was written before the file that now has this age.
  std::int64_t lost = 0;
  std::string path;
  auto operator<=>(const ReadOrder&) const = default;
};

inline bool is_compressed(const ReadOrder& order) {
  return order.path.ends_with(".gz") || order.path.ends_with(".gz.tmp");
}

struct FilePlace {
  std::string lane;     // shared by the files that one writer writes one after another
  bool single = false;  // the lane is this file alone
  ReadOrder order;
};

FilePlace place_of(const std::string& path);

// True for names of traces and metrics: .json, .jsonl or .ndjson, optionally compressed (.gz),
// still being written (.tmp) or rotated (".1", "-20261121"); of event files (.tfevents); and of
// dumps that end in their rank: "nccl_trace_rank_12".
bool is_trace_name(std::string_view name);

// Where launchers put what a job prints: Slurm and nohup, torchrun, W&B, NeMo. Other logs may be of
// anything.
bool is_console_name(std::string_view name);

// "train.log" of "train.log.2.gz": without what rotation, compression and a writer that is not done
// put behind a name.
std::string_view without_rotation(std::string_view name);

// True for names that say nothing about what is in the file: .log, .txt, or no ending at all, and
// the same rotated or compressed, but for hidden files and trainwatch's own. Contents decide
// whether such a file is a log of a training.
bool may_name_a_log(std::string_view name);

// Converts a time stamp of 10 (s), 13 (ms), 16 (us) or 19 (ns) digits to nanoseconds; otherwise
// kNoStamp.
std::int64_t stamp_of(std::string_view digits);

}  // namespace trainwatch
