// Where a document goes that is made piece by piece: a file, compressed when its name ends in .gz,
// or standard output.
#pragma once

#include <iosfwd>
#include <memory>
#include <optional>
#include <string>

#include "commands/replace_file.h"
#include "pipeline/decode/gzip_stream.h"
#include "pipeline/timeline/trace_copy.h"

namespace trainwatch {

class TraceOutput final : public TextSink {
 public:
  // To `out`, which outlives this.
  explicit TraceOutput(std::ostream& out) : out_(&out) {}
  static Result<std::unique_ptr<TraceOutput>> to_file(const std::string& path);

  void write(std::string_view text) override;
  // What went wrong, if something did; then nothing more is written.
  const Status& status() const { return status_; }
  // The document is complete. Only now the file has it.
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
