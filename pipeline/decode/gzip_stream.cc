// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/gzip_stream.h"

#include <zlib.h>

#include <utility>
#include <vector>

#include "pipeline/decode/member_deflater.h"

namespace trainwatch {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{64} << 10U;  // fits the second level cache
constexpr std::string_view kMemberMagic = "\x1f\x8b";
constexpr std::size_t kOutputBytes = std::size_t{64} << 10U;

}  // namespace

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
      if (alive && (input_.empty() || input_.size() == left)) {
        buffer_ = std::vector<char>();
        return {};
      }
    } else if (input_.empty()) {
      release_memory();
      return {};
    } else if (at_ == At::padding || at_ == At::damaged) {
      undecoded_ += input_.size();
      input_ = {};
    } else {
      look_for_member();
    }
  }
}

void InflateStream::take_memory() {
  if (inflater_ == nullptr) inflater_ = make_();
}

void InflateStream::release_memory() {
  inflater_.reset();
  buffer_ = std::vector<char>();  // not {}: that keeps the memory
}

bool InflateStream::inflate_into_buffer(std::string_view& input, std::size_t& produced) {
  take_memory();
  buffer_.resize(kBufferBytes);
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
  if (at_ == At::between && (c == kMemberMagic[0] || c == '\0')) {
    if (c != '\0') at_ = At::half_magic;
    input_.remove_prefix(1);
  } else if (at_ == At::half_magic && c == kMemberMagic[1]) {
    std::string_view first_byte = kMemberMagic.substr(0, 1);
    std::size_t produced = 0;
    at_ = At::member;
    inflate_into_buffer(first_byte, produced);
  } else {
    if (at_ == At::half_magic) ++undecoded_;
    at_ = At::padding;
  }
}

void InflateStream::state(StateIo& io) {
  io(at_);
  io(undecoded_);
  if (at_ >= At::count_) io.fail();
  if (at_ != At::member) return release_memory();
  take_memory();
  inflater_->state(io);
}

namespace {

std::unique_ptr<MemberDeflater> make_deflater(DeflateStream::Effort effort) {
  if (effort != DeflateStream::Effort::fast) return make_zlib_deflater(Z_DEFAULT_COMPRESSION);
  auto deflater = make_isal_deflater();
  return deflater != nullptr ? std::move(deflater) : make_zlib_deflater(Z_BEST_SPEED);
}

}  // namespace

struct DeflateStream::Impl {
  Impl(Take to, Effort effort)
      : take(std::move(to)), deflater(make_deflater(effort)), output(kOutputBytes) {}

  void run(std::string_view input, bool last) {
    for (std::size_t made = output.size(); made == output.size() || !input.empty();) {
      made = deflater->deflate(input, last, output);
      if (made > 0) take({output.data(), made});
    }
  }

  Take take;
  std::unique_ptr<MemberDeflater> deflater;
  std::vector<char> output;
};

DeflateStream::DeflateStream(Take take, Effort effort)
    : impl_(std::make_unique<Impl>(std::move(take), effort)) {}
DeflateStream::~DeflateStream() = default;

void DeflateStream::write(std::string_view contents) {
  if (!contents.empty()) impl_->run(contents, false);
}

void DeflateStream::finish() {
  impl_->run({}, true);
}

std::string gzip_member(std::string_view contents, DeflateStream::Effort effort) {
  std::string out;
  DeflateStream deflate([&out](std::string_view piece) { out += piece; }, effort);
  deflate.write(contents);
  deflate.finish();
  return out;
}

}  // namespace trainwatch
