// SPDX-License-Identifier: Apache-2.0
// The contents of one file, inflated if compressed, once its format is known.
//
// One thread; bytes may be cut anywhere.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "pipeline/decode/format.h"
#include "pipeline/decode/gzip_stream.h"

namespace trainwatch {

class FileContents {
 public:
  // Receives the contents in order; each piece is valid during the call only. Before the first
  // call, format() is known. False: no more of this file is wanted.
  using Take = std::function<bool(std::string_view contents)>;

  FileContents(std::string path, Take take) : path_(std::move(path)), take_(std::move(take)) {}

  // The next bytes of the file. False: further ones would be ignored.
  bool feed(std::string_view bytes);
  // The file has ended.
  void finish();

  // A row of the catalog, or one of the answers that are none.
  const Format& format() const { return *format_; }
  bool is_of_no_format() const;
  // Compressed data ends early or is damaged.
  bool cut_short() const { return inflate_ != nullptr && !inflate_->at_end(); }

 private:
  enum class Encoding : std::uint8_t { undecided, plain, gzip };

  void contents(std::string_view piece);
  void decide(bool all);
  bool is_wanted() const { return wanted_ && !is_of_no_format(); }

  std::string path_;
  Take take_;
  Encoding encoding_ = Encoding::undecided;
  const Format* format_ = &kUndecidedFormat;
  bool wanted_ = true;
  std::string head_;  // bytes before the encoding is known, contents before the format is
  std::unique_ptr<InflateStream> inflate_;
};

}  // namespace trainwatch
