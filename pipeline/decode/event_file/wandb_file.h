// SPDX-License-Identifier: Apache-2.0
// Cuts a `.wandb` file into records: seven bytes of header, then LevelDB's log blocks of 32 KiB,
// counted from the beginning of the file. Chunks have a plain CRC-32 of type and data (wandb:
// core/pkg/leveldb/record.go).
//
// A damaged chunk costs its block: the next records begin behind it. Memory: one record of at most
// kMaxRecord; a longer one is rejected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "pipeline/decode/byte_account.h"
#include "trainwatch/diagnostics.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

inline constexpr std::string_view kWandbHeader{":W&B\xE1\xBE\0", 7};

class WandbFileReader {
 public:
  static constexpr std::size_t kMaxRecord = std::size_t{1} << 20U;

  // Called during feed(). A record: nullopt if it is good.
  using OnRecord = std::function<std::optional<RejectReason>(std::string_view record)>;
  using OnReject = std::function<void(RejectReason reason, std::string_view beginning)>;

  void feed(std::string_view bytes, const OnRecord& on_record, const OnReject& on_reject);

  bool mid_record() const { return !rest_.empty() || fragments_ > 0; }
  std::uint64_t records() const { return records_; }
  // Without the bytes in waiting().
  const ByteAccount& bytes() const { return account_; }
  std::size_t waiting() const { return rest_.size() + fragments_; }
  void cut_back(std::size_t bytes);
  void state(StateIo& io);

 private:
  enum class ChunkType : std::uint8_t { zero, full, first, middle, last };

  std::size_t take(std::string_view bytes, const OnRecord& on_record, const OnReject& on_reject);
  std::size_t take_chunk(std::string_view bytes, std::size_t left, const OnRecord& on_record,
                         const OnReject& on_reject);
  std::size_t skip_block(std::string_view bytes, std::size_t left, const OnReject& on_reject);
  void fragment(ChunkType type, std::string_view chunk, const OnRecord& on_record,
                const OnReject& on_reject);
  void finish_record(std::string_view record, std::size_t size, const OnRecord& on_record,
                     const OnReject& on_reject);
  void drop_fragments(const OnReject& on_reject);

  std::string rest_;             // of a chunk that has begun
  std::uint64_t offset_ = 0;     // of rest_, in the file
  std::string record_;           // the fragments of a record, without their headers
  std::uint64_t fragments_ = 0;  // their bytes in the file
  std::uint64_t skipping_ = 0;   // bytes of a damaged block that are still to come
  std::uint64_t records_ = 0;
  ByteAccount account_;
};

}  // namespace trainwatch
