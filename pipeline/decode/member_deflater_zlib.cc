// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>

#include <algorithm>
#include <new>

#include "pipeline/decode/member_deflater.h"

namespace trainwatch {
namespace {

constexpr int kGzipWindow = 15 + 16;  // the largest window, with gzip's header
constexpr int kMemoryLevel = 8;

class ZlibDeflater final : public MemberDeflater {
 public:
  explicit ZlibDeflater(int level) {
    if (deflateInit2(&stream_, level, Z_DEFLATED, kGzipWindow, kMemoryLevel, Z_DEFAULT_STRATEGY) !=
        Z_OK) {
      throw std::bad_alloc();
    }
  }
  ~ZlibDeflater() override { deflateEnd(&stream_); }
  ZlibDeflater(const ZlibDeflater&) = delete;
  ZlibDeflater& operator=(const ZlibDeflater&) = delete;

  std::size_t deflate(std::string_view& input, bool last, std::span<char> output) override {
    constexpr std::size_t kMost = std::size_t{1} << 30U;  // zlib counts with 32 bits
    const std::size_t size = std::min(input.size(), kMost);
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
    stream_.avail_in = static_cast<uInt>(size);
    stream_.next_out = reinterpret_cast<Bytef*>(output.data());
    stream_.avail_out = static_cast<uInt>(output.size());
    ::deflate(&stream_, last && size == input.size() ? Z_FINISH : Z_NO_FLUSH);
    input.remove_prefix(size - stream_.avail_in);
    return output.size() - stream_.avail_out;
  }

 private:
  z_stream stream_{};
};

}  // namespace

std::unique_ptr<MemberDeflater> make_zlib_deflater(int level) {
  return std::make_unique<ZlibDeflater>(level);
}

}  // namespace trainwatch
