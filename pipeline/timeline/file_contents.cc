// SPDX-License-Identifier: Apache-2.0
#include "pipeline/timeline/file_contents.h"

#include <utility>

#include "pipeline/decode/formats/format_catalog.h"

namespace trainwatch {
namespace {

constexpr std::string_view kGzip = "\x1f\x8b";

}  // namespace

bool FileContents::is_of_no_format() const {
  return format_ != &kUndecidedFormat && format_->make == nullptr;
}

bool FileContents::feed(std::string_view bytes) {
  if (encoding_ == Encoding::undecided) {
    head_.append(bytes);
    if (head_.size() < kGzip.size()) return true;
    encoding_ = head_.starts_with(kGzip) ? Encoding::gzip : Encoding::plain;
    if (encoding_ == Encoding::gzip) inflate_ = std::make_unique<InflateStream>();
    const std::string begun = std::exchange(head_, {});
    return feed(begun);
  }
  if (encoding_ == Encoding::plain) {
    contents(bytes);
    return is_wanted();
  }
  inflate_->push(bytes);
  for (auto piece = inflate_->pull(); !piece.empty(); piece = inflate_->pull()) contents(piece);
  return is_wanted();
}

void FileContents::contents(std::string_view piece) {
  if (!is_wanted()) return;
  if (format_ != &kUndecidedFormat) {
    wanted_ = take_(piece);
    return;
  }
  head_.append(piece);
  decide(false);
}

void FileContents::decide(bool all) {
  const FormatTable formats = format_catalog();
  format_ = all ? &detect_whole_file(formats, head_, path_) : &detect_format(formats, head_, path_);
  if (format_ == &kUndecidedFormat) return;
  const std::string begun = std::exchange(head_, {});
  if (is_wanted()) wanted_ = take_(begun);
}

void FileContents::finish() {
  if (format_ == &kUndecidedFormat) decide(true);
}

}  // namespace trainwatch
