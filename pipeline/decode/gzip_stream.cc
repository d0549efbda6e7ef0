#include "pipeline/decode/gzip_stream.h"

#include <zlib.h>

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

namespace trainwatch {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{128} << 10U;  // fits the second level cache
constexpr std::string_view kMemberMagic = "\x1f\x8b";

constexpr int kGzipWindow = 15 + 16;  // the largest window, with gzip's header
constexpr int kMemoryLevel = 8;
constexpr std::size_t kOutputBytes = std::size_t{64} << 10U;
constexpr std::size_t kDeflateBytes = std::size_t{1} << 30U;  // zlib counts with 32 bits

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
      if (alive && (input_.empty() || input_.size() == left)) return {};
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
  if (inflater_ != nullptr) return;
  inflater_ = make_();
  buffer_.resize(kBufferBytes);
}

void InflateStream::release_memory() {
  inflater_.reset();
  buffer_ = std::vector<char>();  // not {}: that keeps the memory
}

bool InflateStream::inflate_into_buffer(std::string_view& input, std::size_t& produced) {
  take_memory();
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

struct DeflateStream::Impl {
  Impl(Take to, Effort effort) : take(std::move(to)), output(kOutputBytes) {
    const int level = effort == Effort::fast ? Z_BEST_SPEED : Z_DEFAULT_COMPRESSION;
    if (deflateInit2(&stream, level, Z_DEFLATED, kGzipWindow, kMemoryLevel, Z_DEFAULT_STRATEGY) !=
        Z_OK) {
      throw std::bad_alloc();
    }
  }
  ~Impl() { deflateEnd(&stream); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void run(std::string_view input, int flush) {
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
    stream.avail_in = static_cast<uInt>(input.size());
    do {
      stream.next_out = reinterpret_cast<Bytef*>(output.data());
      stream.avail_out = static_cast<uInt>(output.size());
      deflate(&stream, flush);
      const std::size_t made = output.size() - stream.avail_out;
      if (made > 0) take({output.data(), made});
    } while (stream.avail_out == 0);
  }

  Take take;
  z_stream stream{};
  std::vector<char> output;
};

DeflateStream::DeflateStream(Take take, Effort effort)
    : impl_(std::make_unique<Impl>(std::move(take), effort)) {}
DeflateStream::~DeflateStream() = default;

void DeflateStream::write(std::string_view contents) {
  while (!contents.empty()) {
    const std::string_view piece = contents.substr(0, kDeflateBytes);
    impl_->run(piece, Z_NO_FLUSH);
    contents.remove_prefix(piece.size());
  }
}

void DeflateStream::finish() {
  impl_->run({}, Z_FINISH);
}

std::string gzip_member(std::string_view contents, DeflateStream::Effort effort) {
  std::string out;
  DeflateStream deflate([&out](std::string_view piece) { out += piece; }, effort);
  deflate.write(contents);
  deflate.finish();
  return out;
}

}  // namespace trainwatch
