#include "pipeline/decode/event_file/record_file.h"

#include <algorithm>

#include "pipeline/decode/event_file/crc32c.h"

namespace trainwatch {
namespace {

constexpr std::size_t kFooter = 4;
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

}  // namespace

bool begins_record(std::string_view head) {
  return head.size() >= kRecordHeader && length_of(head) < kMostPlausible &&
         masked_crc32c(head.substr(0, 8)) == little_endian<std::uint32_t>(head.substr(8));
}

void RecordFileSplitter::feed(std::string_view bytes, const OnPayload& on_payload,
                              const OnReject& on_reject) {
  const std::uint64_t over = std::min<std::uint64_t>(passing_over_, bytes.size());
  passing_over_ -= over;
  account_.rejected += over;
  bytes.remove_prefix(over);
  std::string_view all = bytes;
  const bool joined = !rest_.empty();
  if (joined) all = rest_.append(bytes);
  while (!all.empty()) {
    const std::size_t taken = take(all, on_payload, on_reject);
    if (taken == 0) break;
    all.remove_prefix(std::min(taken, all.size()));
  }
  if (joined) {
    rest_.erase(0, rest_.size() - all.size());
  } else {
    rest_.assign(all);
  }
}

std::size_t RecordFileSplitter::take(std::string_view bytes, const OnPayload& on_payload,
                                     const OnReject& on_reject) {
  if (bytes.size() < kRecordHeader) return 0;
  if (!begins_record(bytes)) return pass_over_damage(bytes, 1, on_reject);
  const std::uint64_t length = length_of(bytes);
  const std::uint64_t size = kRecordHeader + length + kFooter;
  if (length > kMaxPayload) {
    on_reject(RejectReason::too_long, bytes);
    const std::uint64_t here = std::min<std::uint64_t>(size, bytes.size());
    account_.rejected += here;
    passing_over_ = size - here;
    damaged_ = false;
    return here;
  }
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
  io(passing_over_);
  io(records_);
  io(damaged_);
  io(account_);
  if (rest_.size() > kRecordHeader + kMaxPayload + kFooter) io.fail();
}

}  // namespace trainwatch
