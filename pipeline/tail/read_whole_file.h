// SPDX-License-Identifier: Apache-2.0
// Reads a small file at once.
#pragma once

#include <cstddef>
#include <string>

#include "pipeline/tail/file_system.h"
#include "trainwatch/result.h"

namespace trainwatch {

// Reads the whole file; fails if it is longer than `max_bytes`.
Result<std::string> read_whole_file(FileSystem& files, const std::string& path,
                                    std::size_t max_bytes);

}  // namespace trainwatch
