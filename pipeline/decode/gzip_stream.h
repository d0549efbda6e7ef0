// SPDX-License-Identifier: Apache-2.0
// Gzip in both directions, as streams. zlib and ISA-L are used in this folder only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/decode/member_inflater.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

// Reads a gzip file: every member, cut anywhere. The missing end of a file that is still being
// written means "not yet" and is never an error.
class InflateStream {
 public:
  using MakeInflater = std::unique_ptr<MemberInflater> (*)();
  explicit InflateStream(MakeInflater make = &fastest) : make_(make) {}

  static std::unique_ptr<MemberInflater> fastest();

  // The next bytes of the file. Call pull() until it returns nothing; `bytes` must live until then.
  void push(std::string_view bytes) { input_ = bytes; }
  // The next piece of contents, valid until the next call; empty when the input is used up.
  std::string_view pull();

  // The data is damaged: what came before is good, the rest of the file cannot be read.
  bool damaged() const { return at_ == At::damaged; }
  // The trailer of the last member was read, and only padding since.
  bool at_end() const { return at_ == At::between || at_ == At::padding; }
  // Bytes that cannot be inflated: behind damage, or behind the last member, zeros aside.
  std::uint64_t undecoded() const { return undecoded_; }

  void state(StateIo& io);

 private:
  enum class At : std::uint8_t {
    member,
    between,     // after a trailer
    half_magic,  // after a trailer and the first byte of a gzip header
    padding,     // after bytes that are not a gzip member: the rest is ignored
    damaged,
    count_,
  };

  void take_memory();
  // Between members nothing is needed. A read file may stay open for long.
  void release_memory();
  // Decides by the next byte after a trailer what follows.
  void look_for_member();
  bool inflate_into_buffer(std::string_view& input, std::size_t& produced);

  At at_ = At::member;
  std::uint64_t undecoded_ = 0;
  std::string_view input_;
  MakeInflater make_;
  std::unique_ptr<MemberInflater> inflater_;  // null unless inside a member
  std::vector<char> buffer_;                  // empty unless there is something to inflate
};

// Writes one gzip member.
class DeflateStream {
 public:
  // Receives the compressed bytes in order; each piece is valid during the call only.
  using Take = std::function<void(std::string_view)>;

  // `fast`: with zlib a third of the time and an eighth more bytes, with ISA-L a third of that
  // time.
  enum class Effort : std::uint8_t { usual, fast };

  explicit DeflateStream(Take take, Effort effort = Effort::usual);
  ~DeflateStream();

  void write(std::string_view contents);
  // Writes the trailer. Call once, last.
  void finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// One gzip member with all of `contents`.
std::string gzip_member(std::string_view contents, DeflateStream::Effort effort);

}  // namespace trainwatch
