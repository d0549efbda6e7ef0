// SPDX-License-Identifier: Apache-2.0
// Cuts growing files into lines. The result is independent of how the bytes are cut.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "trainwatch/state_io.h"

namespace trainwatch {

// A longer record is rejected while it is read, so that memory stays bounded.
inline constexpr std::size_t kMaxRecordBytes = std::size_t{1} << 20U;
// Thousands of files are open at a time: none keeps more than this of the memory that only its
// longest record needed.
inline constexpr std::size_t kMostKeptBytes = 4096;

// Lines that are complete inside one piece of input are passed on in place; only a line that the
// end of a piece cuts is copied.
class LineSplitter {
 public:
  // Calls on_line(line) for every complete line, without its line break, and on_too_long(beginning)
  // once for each line above the limit. Before it looks for the end of a line, take_lines(bytes)
  // may take some from the beginning, and returns their size with their line breaks.
  template <class OnLine, class OnTooLong, class TakeLines>
  void feed(std::string_view bytes, OnLine&& on_line, OnTooLong&& on_too_long,
            TakeLines&& take_lines) {
    while (!bytes.empty()) {
      if (!mid_line()) bytes.remove_prefix(take_lines(bytes));
      if (bytes.empty()) break;
      const auto* found = static_cast<const char*>(std::memchr(bytes.data(), '\n', bytes.size()));
      const bool complete = found != nullptr;
      const std::size_t size =
          complete ? static_cast<std::size_t>(found - bytes.data()) : bytes.size();
      const std::string_view part = bytes.substr(0, size);
      bytes.remove_prefix(complete ? size + 1 : size);
      if (!skipping_ && carry_.size() + part.size() > kMaxRecordBytes) {
        skipping_ = true;
        too_long_ += carry_.size();
        on_too_long(carry_.empty() ? part : std::string_view{carry_});
        carry_.clear();
      }
      if (skipping_) too_long_ += complete ? size + 1 : size;
      if (!skipping_ && (!complete || !carry_.empty())) carry_.append(part);
      if (!complete) return;
      if (!skipping_) on_line(carry_.empty() ? part : std::string_view{carry_});
      carry_.clear();
      skipping_ = false;
    }
    if (carry_.capacity() > kMostKeptBytes) carry_.shrink_to_fit();
  }
  template <class OnLine, class OnTooLong>
  void feed(std::string_view bytes, OnLine&& on_line, OnTooLong&& on_too_long) {
    feed(bytes, on_line, on_too_long, [](std::string_view) { return std::size_t{0}; });
  }

  // The last line, which has no line break yet.
  std::string_view rest() const { return carry_; }
  // Returns and clears it.
  std::string take_rest() {
    skipping_ = false;
    return std::exchange(carry_, {});
  }

  void cut_back(std::size_t bytes) {
    carry_.resize(carry_.size() - std::min(bytes, carry_.size()));
  }

  // The bytes so far do not end with a line break.
  bool mid_line() const { return !carry_.empty() || skipping_; }

  // The bytes of lines above the limit, with their line breaks.
  std::uint64_t too_long() const { return too_long_; }

  void state(StateIo& io) {
    io(carry_);
    io(skipping_);
    io(too_long_);
  }

 private:
  std::string carry_;
  bool skipping_ = false;  // inside a line that is too long
  std::uint64_t too_long_ = 0;
};

}  // namespace trainwatch
