// Cuts a TFRecord file into records: u64 length, masked CRC-32C of the length, payload, masked
// CRC-32C of the payload, all little-endian. SageMaker Debugger writes the same constant in place
// of every payload's checksum; both are accepted.
//
// Behind damage the next record is one whose length has the right checksum. Bounded: a payload
// above kMaxPayload is passed over as it comes, without being kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "pipeline/decode/byte_account.h"
#include "trainwatch/diagnostics.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

// The first record begins here: its length is plausible and has the right checksum. `head` may be
// shorter than a header: no.
bool begins_record(std::string_view head);

inline constexpr std::size_t kRecordHeader = 12;  // length and its checksum

class RecordFileSplitter {
 public:
  static constexpr std::size_t kMaxPayload = std::size_t{1} << 20U;

  // Both are called during feed(): for each payload, true if it can be used; and for what is
  // damaged or too long, once for all that is damaged in a row.
  using OnPayload = std::function<bool(std::string_view payload)>;
  using OnReject = std::function<void(RejectReason reason, std::string_view beginning)>;

  void feed(std::string_view bytes, const OnPayload& on_payload, const OnReject& on_reject);
  bool mid_record() const { return !rest_.empty() || passing_over_ > 0; }
  std::uint64_t records() const { return records_; }
  // Without the bytes of a record that is not complete.
  ByteAccount bytes() const { return account_; }
  std::size_t waiting() const { return rest_.size(); }
  // What waits is part of damage that was reported.
  bool behind_damage() const { return damaged_; }
  void cut_back(std::size_t bytes) { rest_.resize(rest_.size() - std::min(bytes, rest_.size())); }
  void state(StateIo& io);

 private:
  // Takes one record or damaged part from the front; how many bytes, 0: it takes more of them.
  std::size_t take(std::string_view bytes, const OnPayload& on_payload, const OnReject& on_reject);
  std::size_t pass_over_damage(std::string_view bytes, std::size_t from, const OnReject& on_reject);

  std::string rest_;                // of a record that has begun
  std::uint64_t passing_over_ = 0;  // bytes of a record that is too long
  std::uint64_t records_ = 0;
  bool damaged_ = false;  // the last bytes were; their reject was said
  ByteAccount account_;
};

}  // namespace trainwatch
