// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "pipeline/decode/member_inflater.h"

namespace trainwatch {
namespace {

constexpr int kGzipOnly = 15 + 16;
// zlib cannot write down its state, so the compressed bytes of the member are kept and inflated
// again after a restart. A longer member cannot be resumed: it counts as damaged then.
constexpr std::size_t kMaxReplayBytes = std::size_t{8} << 20U;

class ZlibInflater final : public MemberInflater {
 public:
  ZlibInflater() {
    if (inflateInit2(&stream_, kGzipOnly) != Z_OK) throw std::bad_alloc();
  }
  ~ZlibInflater() override { inflateEnd(&stream_); }
  ZlibInflater(const ZlibInflater&) = delete;
  ZlibInflater& operator=(const ZlibInflater&) = delete;

  Outcome inflate(std::string_view& input, std::span<char> output, std::size_t& produced) override {
    if (!resumable_ && replay_.empty() && lost_) return Outcome::damaged;
    const std::string_view before = input;
    const Outcome outcome = run(input, output, produced);
    remember(before.substr(0, before.size() - input.size()));
    return outcome;
  }

  void reset() override {
    inflateReset(&stream_);
    replay_.clear();
    replay_.shrink_to_fit();
    resumable_ = true;
    lost_ = false;
  }

  void state(StateIo& io) override {
    io(resumable_);
    io(replay_);
    if (io.is_loading() && io.ok()) restore();
  }

 private:
  Outcome run(std::string_view& input, std::span<char> output, std::size_t& produced) {
    constexpr std::size_t kMost = std::size_t{1} << 30U;
    const auto in_size = static_cast<uInt>(std::min(input.size(), kMost));
    const auto out_size = static_cast<uInt>(std::min(output.size(), kMost));
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
    stream_.avail_in = in_size;
    stream_.next_out = reinterpret_cast<Bytef*>(output.data());
    stream_.avail_out = out_size;
    const int result = ::inflate(&stream_, Z_NO_FLUSH);
    input.remove_prefix(in_size - stream_.avail_in);
    produced = out_size - stream_.avail_out;
    if (result == Z_STREAM_END) return Outcome::end;
    return result == Z_OK || result == Z_BUF_ERROR ? Outcome::more : Outcome::damaged;
  }

  void remember(std::string_view consumed) {
    if (!resumable_) return;
    if (replay_.size() + consumed.size() <= kMaxReplayBytes) {
      replay_.append(consumed);
      return;
    }
    resumable_ = false;
    replay_.clear();
    replay_.shrink_to_fit();
  }

  // Everything that had been consumed had also been delivered: InflateStream saves between pieces.
  void restore() {
    inflateReset(&stream_);
    lost_ = !resumable_;
    std::string_view input = replay_;
    std::string scrap(std::size_t{64} << 10U, '\0');
    std::size_t produced = 1;
    while (!input.empty() || produced > 0) {
      if (run(input, scrap, produced) != Outcome::more) break;
      if (produced == 0 && !input.empty()) break;
    }
  }

  z_stream stream_{};
  std::string replay_;
  bool resumable_ = true;
  bool lost_ = false;  // restored without its beginning
};

}  // namespace

std::unique_ptr<MemberInflater> make_zlib_inflater() {
  return std::make_unique<ZlibInflater>();
}

}  // namespace trainwatch
