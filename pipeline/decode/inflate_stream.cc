#include "pipeline/decode/inflate_stream.h"

#include <utility>

namespace trainwatch {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{128} << 10U;  // fits the second level cache
constexpr std::string_view kMagic = "\x1f\x8b";

}  // namespace

InflateStream::InflateStream(std::unique_ptr<MemberInflater> inflater)
    : inflater_(std::move(inflater)), buffer_(kBufferBytes) {}

std::unique_ptr<MemberInflater> InflateStream::fastest() {
  auto inflater = make_isal_inflater();
  return inflater != nullptr ? std::move(inflater) : make_zlib_inflater();
}

std::string_view InflateStream::pull() {
  for (;;) {
    if (at_ == At::member) {
      const std::size_t left = input_.size();
      std::size_t produced = 0;
      const bool alive = inflate_into_buffer(input_, produced);
      if (produced > 0) return {buffer_.data(), produced};
      if (alive && (input_.empty() || input_.size() == left)) return {};
    } else if (input_.empty()) {
      return {};
    } else if (at_ == At::padding || at_ == At::damaged) {
      input_ = {};
    } else {
      look_for_member();
    }
  }
}

bool InflateStream::inflate_into_buffer(std::string_view& input, std::size_t& produced) {
  switch (inflater_->inflate(input, buffer_, produced)) {
    case MemberInflater::Outcome::more:
      return true;
    case MemberInflater::Outcome::end:
      inflater_->reset();
      at_ = At::between;
      return false;
    case MemberInflater::Outcome::damaged:
      at_ = At::damaged;
      return false;
  }
  return false;
}

void InflateStream::look_for_member() {
  const char c = input_.front();
  if (at_ == At::between && (c == kMagic[0] || c == '\0')) {
    if (c != '\0') at_ = At::half_magic;
    input_.remove_prefix(1);
  } else if (at_ == At::half_magic && c == kMagic[1]) {
    std::string_view first_byte = kMagic.substr(0, 1);
    std::size_t produced = 0;
    at_ = At::member;
    inflate_into_buffer(first_byte, produced);
  } else {
    at_ = At::padding;
  }
}

void InflateStream::state(StateIo& io) {
  io(at_);
  if (at_ >= At::count_) io.fail();
  inflater_->state(io);
}

}  // namespace trainwatch
