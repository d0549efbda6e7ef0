// SPDX-License-Identifier: Apache-2.0
// An index file of a trial (SageMaker Debugger): which tensors one worker saved at one step, and
// where. Its name gives the global step and the worker.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainwatch/result.h"

namespace trainwatch {

enum class TensorMode : std::uint8_t { train = 1, eval = 2, predict = 3, global = 4 };

std::string_view to_string(TensorMode mode);  // "TRAIN"
std::optional<TensorMode> parse_tensor_mode(std::string_view text);

// A record in an event file, with its header and checksums.
struct RecordRange {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

struct IndexedTensor {
  std::string name;
  std::optional<RecordRange> record;               // its values, if they were saved
  std::optional<std::vector<std::int64_t>> shape;  // if the shape was saved by itself
};

struct TensorIndex {
  TensorMode mode = TensorMode::global;
  std::int64_t mode_step = 0;
  std::string event_file;  // relative to the trial
  // In the order of the file, each name once: a tensor in both payloads has its values and its
  // shape.
  std::vector<IndexedTensor> tensors;
};

Result<TensorIndex> parse_tensor_index(std::string_view json);

struct IndexName {
  std::int64_t step = 0;
  std::string worker;
};

// Of `000000000004_worker_0.json`; nullopt for the names of other files.
std::optional<IndexName> parse_index_name(std::string_view name);

}  // namespace trainwatch
