#include "commands/trace_output.h"

#include <ostream>

namespace trainwatch {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{256} << 10U;

}  // namespace

Result<std::unique_ptr<TraceOutput>> TraceOutput::to_file(const std::string& path) {
  auto file = FileReplacement::begin(path);
  if (!file) return file.error();
  std::unique_ptr<TraceOutput> output(new TraceOutput(std::move(*file)));
  if (path.ends_with(".gz")) {
    TraceOutput& to = *output;
    to.deflate_.emplace([&to](std::string_view bytes) { to.put(bytes); });
  }
  return output;
}

void TraceOutput::write(std::string_view text) {
  if (buffer_.size() + text.size() > kBufferBytes) flush();
  buffer_.append(text);
}

void TraceOutput::flush() {
  if (deflate_) {
    deflate_->write(buffer_);
  } else {
    put(buffer_);
  }
  buffer_.clear();
}

void TraceOutput::put(std::string_view bytes) {
  if (!status_) return;
  if (file_) {
    status_ = file_->write(bytes);
  } else if (!out_->write(bytes.data(), static_cast<std::streamsize>(bytes.size()))) {
    status_ = Error{"cannot write to standard output"};
  }
}

Status TraceOutput::finish() {
  flush();
  if (deflate_) deflate_->finish();
  if (out_ != nullptr && status_ && !out_->flush()) {
    status_ = Error{"cannot write to standard output"};
  }
  if (!status_) return status_;
  return file_ ? file_->commit() : success();
}

}  // namespace trainwatch
