// SPDX-License-Identifier: Apache-2.0
// Writes SageMaker's system-metrics files:
// DIR/system/incremental/<YYYYMMDDHH>/<minute>.<node>.json, one JSON object per line, one file per
// minute (UTC; the name is the minute's first second).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "commands/sample/host_sampler.h"
#include "pipeline/tail/file_handle.h"
#include "trainwatch/result.h"
#include "trainwatch/time.h"

namespace trainwatch {

// Whether `node` can be used in a file name and in JSON as it is: letters, digits and '-'.
bool is_node_name(std::string_view node);
// The host's name in that form: every other character becomes '-'.
std::string node_name_of(std::string_view host);

class MetricsFile {
 public:
  MetricsFile(std::string directory, std::string node)
      : directory_(std::move(directory)), node_(std::move(node)) {}

  // Appends one tick with a single write(), so that a reader never sees half of it but where the
  // kernel itself splits a write (a page boundary). A new minute begins a new file.
  Status write(Time at, std::span<const Metric> metrics);

  static std::string path_of(std::string_view directory, std::string_view node, Time at);

 private:
  Status open(Time at);

  std::string directory_;
  std::string node_;
  std::string path_;
  std::int64_t minute_ = -1;
  FileHandle file_;
  std::string lines_;
};

}  // namespace trainwatch
