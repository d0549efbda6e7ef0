// Which files below some paths may be traces, and reading them once from beginning to end.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/config/config.h"
#include "pipeline/tail/file_system.h"

namespace trainwatch {

struct TraceFile {
  std::string path;
  std::int32_t rank = kNoRank;  // configured for the path
};

// By the time in their names, then by path, each once. Of a file and its compressed copy, or the
// one that it was written as, only the file counts.
std::vector<TraceFile> trace_files(FileSystem& files, const std::vector<std::string>& paths,
                                   const Config& config);

// Tells the bytes of the file, until `take` answers false. The error names the file.
Status read_file(FileSystem& files, const std::string& path,
                 const std::function<bool(std::string_view bytes)>& take);

}  // namespace trainwatch
