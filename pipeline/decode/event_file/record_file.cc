// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/event_file/record_file.h"

#include <utility>

namespace trainwatch {
namespace {

constexpr std::size_t kRecordFooter = 4;
// No writer makes records this long; a length above it is damage whose checksum happens to fit.
constexpr std::uint64_t kMostPlausible = std::uint64_t{1} << 40U;
// smdebug: masked CRC-32C of the text "0x12345678".
constexpr std::uint32_t kSageMakerChecksum = 0x062DC0B3U;

template <class Number>
Number little_endian(std::string_view bytes) {
  Number number = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    number |= static_cast<Number>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  return number;
}

std::uint64_t length_of(std::string_view header) {
  return little_endian<std::uint64_t>(header);
}

bool is_checksum(std::uint32_t written, std::uint32_t own) {
  return written == own || written == kSageMakerChecksum;
}

}  // namespace

bool begins_record(std::string_view head) {
  return head.size() >= kRecordHeader && length_of(head) < kMostPlausible &&
         masked_crc32c(head.substr(0, 8)) == little_endian<std::uint32_t>(head.substr(8));
}

bool has_record_behind_damage(std::string_view head) {
  for (std::size_t at = 1; at + kRecordHeader <= head.size(); ++at) {
    if (begins_record(head.substr(at))) return true;
  }
  return false;
}

std::string_view beginning_of_payload(std::string_view head) {
  return head.substr(kRecordHeader, length_of(head));
}

Result<std::string_view> record_payload(std::string_view record) {
  if (record.size() < kRecordHeader + kRecordFooter) return Error{"shorter than a record"};
  if (!begins_record(record)) return Error{"wrong checksum of the length"};
  if (length_of(record) != record.size() - kRecordHeader - kRecordFooter)
    return Error{"the record is not as long as the index says"};
  const std::string_view payload = beginning_of_payload(record);
  const auto written = little_endian<std::uint32_t>(record.substr(kRecordHeader + payload.size()));
  if (!is_checksum(written, masked_crc32c(payload))) return Error{"wrong checksum of the payload"};
  return payload;
}

void RecordFileSplitter::feed(std::string_view bytes, const OnPayload& on_payload,
                              const OnReject& on_reject, LongPayload* long_payload) {
  std::string_view all = bytes;
  const bool joined = !rest_.empty();
  if (joined) all = rest_.append(bytes);
  while (!all.empty()) {
    const std::size_t taken = long_.taken > 0 ? take_long(all, on_reject, long_payload)
                                              : take(all, on_payload, on_reject, long_payload);
    if (taken == 0) break;
    all.remove_prefix(taken);
  }
  if (joined) {
    rest_.erase(0, rest_.size() - all.size());
  } else {
    rest_.assign(all);
  }
}

std::size_t RecordFileSplitter::take(std::string_view bytes, const OnPayload& on_payload,
                                     const OnReject& on_reject, LongPayload* long_payload) {
  if (bytes.size() < kRecordHeader) return 0;
  if (!begins_record(bytes)) return pass_over_damage(bytes, 1, on_reject);
  const std::uint64_t length = length_of(bytes);
  if (length > most_) {
    long_ = {};
    long_.taken = kRecordHeader;
    long_.left = length;
    damaged_ = false;
    if (long_payload != nullptr) long_payload->begin(length);
    return kRecordHeader;
  }
  const std::uint64_t size = kRecordHeader + length + kFooter;
  if (bytes.size() < size) return 0;
  const std::string_view payload = bytes.substr(kRecordHeader, length);
  const auto checksum = little_endian<std::uint32_t>(bytes.substr(kRecordHeader + length));
  if (checksum != kSageMakerChecksum && checksum != masked_crc32c(payload)) {
    return pass_over_damage(bytes, kRecordHeader, on_reject);
  }
  damaged_ = false;
  const bool good = on_payload(payload);
  (good ? account_.records : account_.rejected) += size;
  if (good) ++records_;
  return size;
}

std::size_t RecordFileSplitter::take_long(std::string_view bytes, const OnReject& on_reject,
                                          LongPayload* long_payload) {
  const std::string_view payload = bytes.substr(0, long_.left);
  if (!payload.empty()) {
    long_.crc.add(payload);
    if (long_payload != nullptr) long_payload->piece(payload);
  }
  long_.left -= payload.size();
  bytes.remove_prefix(payload.size());
  std::size_t taken = payload.size();
  for (; long_.left == 0 && long_.footer_bytes < kFooter && !bytes.empty(); ++taken) {
    long_.footer[long_.footer_bytes++] = bytes.front();
    bytes.remove_prefix(1);
  }
  long_.taken += taken;
  if (long_.footer_bytes < kFooter) return taken;
  const Long done = std::exchange(long_, {});
  const auto written =
      little_endian<std::uint32_t>(std::string_view(done.footer.data(), done.footer.size()));
  const bool intact = is_checksum(written, done.crc.masked());
  if (!intact) on_reject(RejectReason::syntax, "a long record with a wrong checksum");
  const bool good = intact && (long_payload == nullptr || long_payload->end());
  (good ? account_.records : account_.rejected) += done.taken;
  if (good) ++records_;
  return taken;
}

// Up to the next header, or to where one may begin.
std::size_t RecordFileSplitter::pass_over_damage(std::string_view bytes, std::size_t from,
                                                 const OnReject& on_reject) {
  if (!damaged_) on_reject(RejectReason::syntax, bytes);
  damaged_ = true;
  std::size_t at = from;
  while (at + kRecordHeader <= bytes.size() && !begins_record(bytes.substr(at))) ++at;
  account_.rejected += at;
  return at;
}

void RecordFileSplitter::state(StateIo& io) {
  io(rest_);
  io(long_);
  io(records_);
  io(damaged_);
  io(account_);
  if (rest_.size() > kRecordHeader + most_ + kFooter) io.fail();
}

void RecordFileSplitter::Long::state(StateIo& io) {
  io(taken);
  io(left);
  io(crc);
  io(footer);
  io(footer_bytes);
  if (footer_bytes >= kFooter) io.fail();
}

}  // namespace trainwatch
