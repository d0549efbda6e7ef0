// What a file holds up to an offset, in about a kilobyte: enough to prove, after a restart or under
// another name, that the same bytes still stand there.
//
// The bytes are hashed in blocks, each digest chained to the one before (XXH3-128); the bytes after
// the last whole block are kept as they are. The last kTail bytes are always among them, so that a
// writer may take a few bytes back.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "trainwatch/state_io.h"

namespace trainwatch {

class ContentMark {
 public:
  static constexpr std::size_t kBlock = 1024;
  static constexpr std::size_t kTail = 256;
  using Digest = std::array<std::uint64_t, 2>;

  // The next bytes of the file.
  void extend(std::string_view bytes);
  // The last bytes were taken back; at most as many as tail() has.
  void cut(std::size_t bytes);
  void clear() { *this = {}; }

  std::uint64_t offset() const { return offset_; }
  // The bytes right before the offset: kTail of them, fewer at the beginning of a file.
  std::string_view tail() const;
  // Not even a first line of some length: what many files begin with.
  bool is_part_of_line() const;
  // Nothing, a hole, or the beginning of a first line: many files hold that. Nor is anything lost
  // when such a file is read from its beginning again.
  bool tells_nothing() const;
  // The last byte may end a record.
  bool ends_whole() const;

  // True when a file that begins with `head` may have this content: all of it is compared, or the
  // first block. `head` needs min(offset, kBlock) bytes to be of use; with fewer, false.
  bool begins_like(std::string_view head) const;

  bool operator==(const ContentMark&) const = default;

  void state(StateIo& io);

 private:
  void take_block(std::string_view block, bool first);

  std::uint64_t offset_ = 0;
  Digest head_{};        // of the first block, once that is in the chain
  Digest chain_{};       // of all blocks
  std::string pending_;  // what follows them, less than kBlock + kTail bytes
};

}  // namespace trainwatch
