// SPDX-License-Identifier: Apache-2.0
// The content of a file up to an offset, in about half a kilobyte: enough to prove, after a restart
// or under another name, that a file still starts with the same bytes.
//
// The bytes are hashed in blocks (XXH3-128), each digest folded into those before it. The bytes
// after the last whole block are kept verbatim, and never fewer than the last kTail, so that a
// writer may take a few bytes back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "pipeline/tail/block_digest.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

class Fingerprint {
 public:
  static constexpr std::size_t kBlock = 512;
  static constexpr std::size_t kTail = 256;

  // The next bytes of the file.
  void extend(std::string_view bytes);
  // Removes the last bytes, at most as many as tail() has.
  void cut(std::size_t bytes);
  void clear() { *this = {}; }
  // Gives back memory that only further bytes would need.
  void shrink() { pending_.shrink_to_fit(); }

  std::uint64_t offset() const { return offset_; }
  // The bytes right before the offset: kTail of them, fewer at the beginning of a file.
  std::string_view tail() const;
  // Shorter than a first line may be: many files begin alike.
  bool is_part_of_line() const;
  // Empty, a hole, or part of a first line: proves nothing, as many files begin alike. Nothing is
  // lost by reading such a file from its beginning again.
  bool proves_nothing() const;
  // The last byte may end a record.
  bool ends_whole() const;

  // True if a file that begins with `head` may have this content. Compares the first block, or
  // everything if there is less. False if `head` has fewer than min(offset, kBlock) bytes.
  bool begins_like(std::string_view head) const;

  // True if both describe the same bytes, regardless of how these were extended and cut.
  bool operator==(const Fingerprint& other) const;

  void state(StateIo& io);

 private:
  void take_block(std::string_view block, bool first);

  std::uint64_t offset_ = 0;
  BlockDigest head_{};   // of the first block, once that is in the chain
  BlockDigest chain_{};  // of all blocks
  std::string pending_;  // the bytes after them, fewer than kBlock + kTail
};

}  // namespace trainwatch
