#include "pipeline/decode/member_inflater.h"

#if defined(TRAINWATCH_HAVE_ISAL)
#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <string>
#include <type_traits>

namespace trainwatch {
namespace {

class IsalInflater final : public MemberInflater {
 public:
  IsalInflater() { IsalInflater::reset(); }

  Outcome inflate(std::string_view& input, std::span<char> output, std::size_t& produced) override {
    constexpr std::size_t kMost = std::size_t{1} << 30U;
    const auto in_size = static_cast<std::uint32_t>(std::min(input.size(), kMost));
    const auto out_size = static_cast<std::uint32_t>(std::min(output.size(), kMost));
    state_->next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(input.data()));
    state_->avail_in = in_size;
    state_->next_out = reinterpret_cast<std::uint8_t*>(output.data());
    state_->avail_out = out_size;
    const int result = isal_inflate(state_.get());
    input.remove_prefix(in_size - state_->avail_in);
    produced = out_size - state_->avail_out;
    if (result < 0) return Outcome::damaged;
    return state_->block_state == ISAL_BLOCK_FINISH ? Outcome::end : Outcome::more;
  }

  void reset() override {
    isal_inflate_init(state_.get());
    state_->crc_flag = ISAL_GZIP;
  }

  // The structure holds its own window and nothing but its in and out pointers points anywhere;
  // those are set at each call.
  void state(StateIo& io) override {
    static_assert(std::is_trivially_copyable_v<inflate_state>);
    auto* const bytes = reinterpret_cast<char*>(state_.get());
    std::string image(bytes, sizeof *state_);
    io(image);
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
