// SPDX-License-Identifier: Apache-2.0
// Cuts a TFRecord file into records: u64 length, masked CRC-32C of the length, payload, masked
// CRC-32C of the payload, all little-endian. SageMaker Debugger writes the same constant in place
// of every payload's checksum; both are accepted.
//
// Behind damage the next record is one whose length has the right checksum. Bounded: of a payload
// above the limit nothing is kept; whoever wants it takes it as it comes (LongPayload).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "pipeline/decode/byte_account.h"
#include "pipeline/decode/event_file/crc32c.h"
#include "trainwatch/diagnostics.h"
#include "trainwatch/result.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

// The first record begins here: its length is plausible and has the right checksum. `head` may be
// shorter than a header: no.
bool begins_record(std::string_view head);
// Some record begins in `head`, which itself is not where one begins.
bool has_record_behind_damage(std::string_view head);

inline constexpr std::size_t kRecordHeader = 12;  // length and its checksum

// Of the record that begins here, as far as `head` has it; begins_record() must be true.
std::string_view beginning_of_payload(std::string_view head);

// Of one whole record: header, payload, checksum. The error says what is wrong with it.
Result<std::string_view> record_payload(std::string_view record);

// Takes a payload above the limit in pieces.
class LongPayload {
 public:
  virtual ~LongPayload() = default;
  virtual void begin(std::uint64_t bytes) = 0;
  virtual void piece(std::string_view bytes) = 0;
  // All of it came, and its checksum is good. True if it can be used.
  virtual bool end() = 0;
};

class RecordFileSplitter {
 public:
  static constexpr std::size_t kMaxPayload = std::size_t{1} << 20U;

  // Both are called during feed(): for each payload, true if it can be used; and for what is
  // damaged, once for all that is damaged in a row.
  using OnPayload = std::function<bool(std::string_view payload)>;
  using OnReject = std::function<void(RejectReason reason, std::string_view beginning)>;

  // Payloads above `most` are passed to feed()'s `long_payload`, or checked and passed over.
  explicit RecordFileSplitter(std::size_t most = kMaxPayload) : most_(most) {}

  void feed(std::string_view bytes, const OnPayload& on_payload, const OnReject& on_reject,
            LongPayload* long_payload = nullptr);
  bool mid_record() const { return waiting() > 0; }
  std::uint64_t records() const { return records_; }
  // Without the bytes of a record that is not complete.
  ByteAccount bytes() const { return account_; }
  std::size_t waiting() const { return rest_.size() + long_.taken; }
  // What waits is part of damage that was reported.
  bool behind_damage() const { return damaged_; }
  void cut_back(std::size_t bytes) { rest_.resize(rest_.size() - std::min(bytes, rest_.size())); }
  void state(StateIo& io);

 private:
  static constexpr std::size_t kFooter = 4;

  // A record whose payload is above the limit.
  struct Long {
    std::uint64_t taken = 0;  // bytes of it, 0: there is none
    std::uint64_t left = 0;   // bytes of its payload
    Crc32c crc;
    std::array<char, kFooter> footer{};
    std::uint32_t footer_bytes = 0;

    void state(StateIo& io);
  };

  // Takes one record or damaged part from the front; how many bytes, 0: it takes more of them.
  std::size_t take(std::string_view bytes, const OnPayload& on_payload, const OnReject& on_reject,
                   LongPayload* long_payload);
  // Of a long record, from the front of `bytes`; how many.
  std::size_t take_long(std::string_view bytes, const OnReject& on_reject,
                        LongPayload* long_payload);
  std::size_t pass_over_damage(std::string_view bytes, std::size_t from, const OnReject& on_reject);

  std::size_t most_;
  std::string rest_;  // of a record that has begun
  Long long_;
  std::uint64_t records_ = 0;
  bool damaged_ = false;  // the last bytes were; their reject was said
  ByteAccount account_;
};

}  // namespace trainwatch
