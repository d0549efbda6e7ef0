// The contents of a file, inflated where it is compressed, and whether they are a profiler's trace.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "pipeline/decode/inflate_stream.h"

namespace trainwatch {

class TraceContents {
 public:
  // Gets contents of a trace in order; each piece is valid during the call only.
  using Take = std::function<void(std::string_view contents)>;
  enum class Kind : std::uint8_t { undecided, trace, other };

  TraceContents(std::string path, Take take) : path_(std::move(path)), take_(std::move(take)) {}

  // The next bytes of the file, cut anywhere.
  void feed(std::string_view bytes);
  // The file is over.
  void finish();

  // Nothing is taken of what is no trace.
  Kind kind() const { return kind_; }
  // The rest of compressed data could not be read, or there is none.
  bool cut_short() const { return inflate_ != nullptr && !inflate_->at_end(); }

 private:
  enum class Encoding : std::uint8_t { undecided, plain, gzip };

  void contents(std::string_view piece);
  void decide(bool all);

  std::string path_;
  Take take_;
  Encoding encoding_ = Encoding::undecided;
  Kind kind_ = Kind::undecided;
  std::string head_;  // bytes before the encoding is known, contents before the kind is
  std::unique_ptr<InflateStream> inflate_;
};

}  // namespace trainwatch
