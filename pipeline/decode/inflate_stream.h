// A gzip file as a stream of its contents: every member, cut anywhere. The truncated end of a file
// that is still being written is "not yet", never an error.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "pipeline/decode/member_inflater.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

class InflateStream {
 public:
  explicit InflateStream(std::unique_ptr<MemberInflater> inflater = fastest());

  static std::unique_ptr<MemberInflater> fastest();

  // The next bytes of the file; pull() until it answers with nothing before they go away.
  void push(std::string_view bytes) { input_ = bytes; }
  // The next piece of contents, valid until the next call; empty when all input is used up.
  std::string_view pull();

  // The data is damaged: what came before stays good, the rest of the file is not readable.
  bool damaged() const { return at_ == At::damaged; }
  // The trailer of the last member was read, and nothing but padding since.
  bool at_end() const { return at_ == At::between || at_ == At::padding; }

  void state(StateIo& io);

 private:
  enum class At : std::uint8_t {
    member,
    between,     // after a trailer
    half_magic,  // after a trailer and the first byte of a gzip header
    padding,     // after bytes that are no gzip member: the rest is ignored
    damaged,
    count_,
  };

  // Decides with the next byte after a trailer what follows.
  void look_for_member();
  bool inflate_into_buffer(std::string_view& input, std::size_t& produced);

  At at_ = At::member;
  std::string_view input_;
  std::unique_ptr<MemberInflater> inflater_;
  std::vector<char> buffer_;
};

}  // namespace trainwatch
