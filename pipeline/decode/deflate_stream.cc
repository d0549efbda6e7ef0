#include "pipeline/decode/deflate_stream.h"

#include <zlib.h>

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

namespace trainwatch {
namespace {

constexpr int kGzip = 15 + 16;  // the largest window, with gzip's header
constexpr int kMemoryLevel = 8;
constexpr std::size_t kOutputBytes = std::size_t{64} << 10U;
constexpr std::size_t kPiece = std::size_t{1} << 30U;  // zlib counts with 32 bits

}  // namespace

struct DeflateStream::Parts {
  explicit Parts(Take to) : take(std::move(to)), output(kOutputBytes) {
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, kMemoryLevel,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  ~Parts() { deflateEnd(&stream); }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

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

DeflateStream::DeflateStream(Take take) : parts_(std::make_unique<Parts>(std::move(take))) {}
DeflateStream::~DeflateStream() = default;

void DeflateStream::write(std::string_view contents) {
  while (!contents.empty()) {
    const std::string_view piece = contents.substr(0, kPiece);
    parts_->run(piece, Z_NO_FLUSH);
    contents.remove_prefix(piece.size());
  }
}

void DeflateStream::finish() {
  parts_->run({}, Z_FINISH);
}

}  // namespace trainwatch
