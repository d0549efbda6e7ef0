// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/event_file/wandb_file.h"

#include <zlib.h>

#include <algorithm>
#include <utility>

namespace trainwatch {
namespace {

constexpr std::size_t kWandbBlock = 32768;
constexpr std::size_t kChunkHeader = 7;  // checksum, length, type
constexpr std::size_t kTypeAt = 6;

std::uint32_t byte_at(std::string_view bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes[at]);
}

bool checksum_fits(std::string_view chunk) {
  const std::uint32_t stored = byte_at(chunk, 0) | (byte_at(chunk, 1) << 8U) |
                               (byte_at(chunk, 2) << 16U) | (byte_at(chunk, 3) << 24U);
  const std::string_view covered = chunk.substr(kTypeAt);
  return crc32_z(0, reinterpret_cast<const Bytef*>(covered.data()), covered.size()) == stored;
}

}  // namespace

void WandbFileReader::feed(std::string_view bytes, const OnRecord& on_record,
                           const OnReject& on_reject) {
  const std::uint64_t skipped = std::min<std::uint64_t>(skipping_, bytes.size());
  skipping_ -= skipped;
  offset_ += skipped;
  account_.skipped += skipped;
  bytes.remove_prefix(skipped);
  rest_.append(bytes);
  std::string_view all = rest_;
  while (!all.empty()) {
    const std::size_t size = take(all, on_record, on_reject);
    if (size == 0) break;
    offset_ += size;
    all.remove_prefix(size);
  }
  rest_.erase(0, rest_.size() - all.size());
  if (rest_.empty()) rest_.shrink_to_fit();
}

std::size_t WandbFileReader::take(std::string_view bytes, const OnRecord& on_record,
                                  const OnReject& on_reject) {
  if (offset_ == 0) {
    if (bytes.size() < kWandbHeader.size()) return 0;
    account_.structure += kWandbHeader.size();
    return kWandbHeader.size();
  }
  const std::size_t left = kWandbBlock - offset_ % kWandbBlock;
  if (left < kChunkHeader) {  // padding
    const std::size_t here = std::min(left, bytes.size());
    account_.structure += here;
    return here;
  }
  if (bytes.size() < kChunkHeader) return 0;
  return take_chunk(bytes, left, on_record, on_reject);
}

std::size_t WandbFileReader::take_chunk(std::string_view bytes, std::size_t left,
                                        const OnRecord& on_record, const OnReject& on_reject) {
  const std::size_t size = kChunkHeader + (byte_at(bytes, 4) | (byte_at(bytes, 5) << 8U));
  const auto type = static_cast<ChunkType>(bytes[kTypeAt]);
  if (size > left || type == ChunkType::zero || type > ChunkType::last) {
    return skip_block(bytes, left, on_reject);
  }
  if (bytes.size() < size) return 0;
  const std::string_view chunk = bytes.substr(0, size);
  if (!checksum_fits(chunk)) return skip_block(bytes, left, on_reject);
  fragment(type, chunk, on_record, on_reject);
  return size;
}

std::size_t WandbFileReader::skip_block(std::string_view bytes, std::size_t left,
                                        const OnReject& on_reject) {
  drop_fragments({});
  on_reject(RejectReason::syntax, bytes);
  const std::size_t here = std::min(left, bytes.size());
  account_.skipped += here;
  skipping_ = left - here;
  return here;
}

void WandbFileReader::drop_fragments(const OnReject& on_reject) {
  if (fragments_ == 0) return;
  if (on_reject) on_reject(RejectReason::syntax, record_);
  account_.rejected += fragments_;
  fragments_ = 0;
  record_.clear();
  record_.shrink_to_fit();
}

void WandbFileReader::fragment(ChunkType type, std::string_view chunk, const OnRecord& on_record,
                               const OnReject& on_reject) {
  const std::string_view data = chunk.substr(kChunkHeader);
  const bool begins = type == ChunkType::full || type == ChunkType::first;
  if (begins) drop_fragments(on_reject);
  if (type == ChunkType::full) return finish_record(data, chunk.size(), on_record, on_reject);
  if (!begins && fragments_ == 0) {  // its beginning was in a damaged block
    account_.rejected += chunk.size();
    return;
  }
  fragments_ += chunk.size();
  // One byte too many stands for a record that is too long.
  record_.append(data.substr(0, kMaxRecord + 1 - std::min(record_.size(), kMaxRecord + 1)));
  if (type != ChunkType::last) return;
  const std::uint64_t size = std::exchange(fragments_, 0);
  finish_record(record_, size, on_record, on_reject);
  record_.clear();
  record_.shrink_to_fit();
}

void WandbFileReader::finish_record(std::string_view record, std::size_t size,
                                    const OnRecord& on_record, const OnReject& on_reject) {
  std::optional<RejectReason> reason = RejectReason::too_long;
  if (record.size() <= kMaxRecord) reason = on_record(record);
  if (reason) on_reject(*reason, record);
  (reason ? account_.rejected : account_.records) += size;
  if (!reason) ++records_;
}

void WandbFileReader::cut_back(std::size_t bytes) {
  rest_.resize(rest_.size() - std::min(bytes, rest_.size()));
}

void WandbFileReader::state(StateIo& io) {
  io(rest_);
  io(offset_);
  io(record_);
  io(fragments_);
  io(skipping_);
  io(records_);
  io(account_);
  if (rest_.size() > kWandbBlock || record_.size() > kMaxRecord + 1) io.fail();
}

}  // namespace trainwatch
