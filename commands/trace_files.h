// SPDX-License-Identifier: Apache-2.0
// The files of `trainwatch timeline`: which of those below some paths may be traces, reading them
// once from beginning to end, and the trace that is written.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "commands/replace_file.h"
#include "daemon/config/config.h"
#include "pipeline/decode/gzip_stream.h"
#include "pipeline/tail/file_system.h"
#include "pipeline/timeline/trace_copy.h"

namespace trainwatch {

struct TraceFile {
  std::string path;
  std::int32_t rank = kNoRank;  // configured for the path
};

// By the time in their names, then by path, each once. If a file has a compressed copy or a draft
// (".tmp"), only the file counts.
std::vector<TraceFile> trace_files(FileSystem& files, const std::vector<std::string>& paths,
                                   const Config& config);

// Passes the bytes of the file to `take` until that returns false. The error names the file.
Status read_file(FileSystem& files, const std::string& path,
                 const std::function<bool(std::string_view bytes)>& take);

// The output for a trace that is made piece by piece: a file, compressed if its name ends in .gz,
// or standard output.
class TraceOutput final : public TextSink {
 public:
  // To `out`, which outlives this.
  explicit TraceOutput(std::ostream& out) : out_(&out) {}
  static Result<std::unique_ptr<TraceOutput>> to_file(const std::string& path);

  void write(std::string_view text) override;
  // The first failure, if any; after it nothing more is written.
  const Status& status() const { return status_; }
  // The document is complete. Only now does the file contain it.
  Status finish();

 private:
  explicit TraceOutput(FileReplacement file) : file_(std::move(file)) {}

  void flush();
  void put(std::string_view bytes);

  std::ostream* out_ = nullptr;
  std::optional<FileReplacement> file_;
  std::optional<DeflateStream> deflate_;
  std::string buffer_;
  Status status_ = success();
};

}  // namespace trainwatch
