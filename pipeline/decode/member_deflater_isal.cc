// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/member_deflater.h"

#if defined(TRAINWATCH_HAVE_ISAL)
#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace trainwatch {
namespace {

class IsalDeflater final : public MemberDeflater {
 public:
  IsalDeflater() : memory_(ISAL_DEF_LVL1_DEFAULT) {
    isal_deflate_init(stream_.get());
    stream_->gzip_flag = IGZIP_GZIP;
    stream_->level = 1;  // 0 makes the pages of /metrics twice as large
    stream_->level_buf = memory_.data();
    stream_->level_buf_size = static_cast<std::uint32_t>(memory_.size());
  }

  std::size_t deflate(std::string_view& input, bool last, std::span<char> output) override {
    constexpr std::size_t kMost = std::size_t{1} << 30U;  // it counts with 32 bits
    const std::size_t size = std::min(input.size(), kMost);
    stream_->next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(input.data()));
    stream_->avail_in = static_cast<std::uint32_t>(size);
    stream_->end_of_stream = last && size == input.size() ? 1 : 0;
    stream_->next_out = reinterpret_cast<std::uint8_t*>(output.data());
    stream_->avail_out = static_cast<std::uint32_t>(output.size());
    isal_deflate(stream_.get());
    input.remove_prefix(size - stream_->avail_in);
    return output.size() - stream_->avail_out;
  }

 private:
  std::unique_ptr<isal_zstream> stream_ = std::make_unique<isal_zstream>();
  std::vector<std::uint8_t> memory_;
};

}  // namespace

std::unique_ptr<MemberDeflater> make_isal_deflater() {
  return std::make_unique<IsalDeflater>();
}

}  // namespace trainwatch

#else

namespace trainwatch {

std::unique_ptr<MemberDeflater> make_isal_deflater() {
  return nullptr;
}

}  // namespace trainwatch

#endif
