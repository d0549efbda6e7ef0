// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/member_inflater.h"

#if defined(TRAINWATCH_HAVE_ISAL)
#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>

namespace trainwatch {
namespace {

constexpr std::uint32_t kReservedFlags = 0xE0;

class IsalInflater final : public MemberInflater {
 public:
  IsalInflater() { IsalInflater::reset(); }

  // Where a distance leads to before the first byte, isal_inflate() claims output that it has not
  // written (seen with 2.30, if at least 8 bytes of input are left), and what was there before
  // would pass for contents. So damage is approached once more, byte by byte.
  Outcome inflate(std::string_view& input, std::span<char> output, std::size_t& produced) override {
    const std::size_t used = used_bytes();
    const auto before = std::make_unique_for_overwrite<char[]>(used);
    std::memcpy(before.get(), state_.get(), used);
    const isal_gzip_header header = header_;
    const std::string_view all = input;
    Outcome outcome = inflate_at_once(input, output, produced);
    if (outcome != Outcome::damaged) return outcome;
    std::memcpy(static_cast<void*>(state_.get()), before.get(), used);
    header_ = header;
    input = all;
    produced = 0;
    outcome = Outcome::more;
    while (outcome == Outcome::more && !input.empty() && produced < output.size()) {
      std::string_view byte = input.substr(0, 1);
      std::size_t more = 0;
      outcome = inflate_at_once(byte, output.subspan(produced), more);
      produced += more;
      input.remove_prefix(1 - byte.size());
    }
    return outcome;
  }

  void reset() override {
    isal_inflate_init(state_.get());
    state_->crc_flag = ISAL_GZIP;
    header_ = {};
  }

  // The structure holds its own window and nothing but its in and out pointers points anywhere;
  // those are set at each call. Of the header only this survives a call.
  void state(StateIo& io) override {
    static_assert(std::is_trivially_copyable_v<inflate_state>);
    auto* const bytes = reinterpret_cast<char*>(state_.get());
    std::string image(bytes, sizeof *state_);
    io(image);
    io(header_.flags);
    io(header_.hcrc);
    if (!io.is_loading() || !io.ok()) return;
    if (image.size() != sizeof *state_) {
      io.fail();
      return;
    }
    std::copy(image.begin(), image.end(), bytes);
    const auto within = [](auto value, std::size_t limit) {
      return value >= 0 && static_cast<std::size_t>(value) <= limit;
    };
    if (!within(state_->tmp_in_size, sizeof state_->tmp_in_buffer) ||
        !within(state_->tmp_out_valid, sizeof state_->tmp_out_buffer) ||
        !within(state_->tmp_out_processed, sizeof state_->tmp_out_buffer)) {
      reset();
      io.fail();
    }
  }

 private:
  // Of the structure: its window comes last, and is rarely full.
  std::size_t used_bytes() const {
    return offsetof(inflate_state, tmp_out_buffer) +
           static_cast<std::size_t>(state_->tmp_out_valid);
  }
  // The header is read by a call of its own: isal_inflate() forgets which fields a header has
  // when `input` ends inside it (seen with 2.30), and takes the rest of a name for data.
  Outcome inflate_at_once(std::string_view& input, std::span<char> output, std::size_t& produced) {
    constexpr std::size_t kMost = std::size_t{1} << 30U;
    const auto in_size = static_cast<std::uint32_t>(std::min(input.size(), kMost));
    const auto out_size = static_cast<std::uint32_t>(std::min(output.size(), kMost));
    state_->next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(input.data()));
    state_->avail_in = in_size;
    state_->next_out = reinterpret_cast<std::uint8_t*>(output.data());
    state_->avail_out = out_size;
    int result = ISAL_DECOMP_OK;
    if (state_->wrapper_flag == 0) result = isal_read_gzip_header(state_.get(), &header_);
    // What such a field would be is not known (RFC 1952, 2.3.1.2); zlib refuses it, too.
    if ((header_.flags & kReservedFlags) != 0) return Outcome::damaged;
    if (result == ISAL_DECOMP_OK) result = isal_inflate(state_.get());
    produced = out_size - state_->avail_out;
    if (result < 0 || state_->avail_in > in_size) return Outcome::damaged;
    input.remove_prefix(in_size - state_->avail_in);
    return state_->block_state == ISAL_BLOCK_FINISH ? Outcome::end : Outcome::more;
  }

  isal_gzip_header header_{};  // no buffers: its texts are skipped
  std::unique_ptr<inflate_state> state_ = std::make_unique<inflate_state>();
};

}  // namespace

std::unique_ptr<MemberInflater> make_isal_inflater() {
  return std::make_unique<IsalInflater>();
}

}  // namespace trainwatch

#else

namespace trainwatch {

std::unique_ptr<MemberInflater> make_isal_inflater() {
  return nullptr;
}

}  // namespace trainwatch

#endif
