// SPDX-License-Identifier: Apache-2.0
#include "pipeline/profile/marshal_reader.h"

#include <bit>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/profile/byte_cursor.h"

namespace trainwatch {
namespace {

constexpr unsigned kReferableFlag = 0x80;
constexpr char kEndOfDict = '0';
constexpr std::uint32_t kUnfinished = std::numeric_limits<std::uint32_t>::max();
constexpr int kLongDigitBits = 15;

bool is_singleton(char type) {
  return type == 'N' || type == 'T' || type == 'F';
}

}  // namespace

// Reads a document once, front to back.
class MarshalReader {
 public:
  static Result<MarshalDocument> read(std::string bytes);

 private:
  using Kind = MarshalDocument::Kind;
  using Index = std::optional<std::uint32_t>;  // of a node; nullopt: not read

  // `document` holds the bytes.
  explicit MarshalReader(MarshalDocument& document)
      : document_(document), cursor_(document.bytes_) {}

  Index read_value(int depth);
  Index read_object(char type, bool referable, int depth);
  Index read_plain(char type);
  Index read_number(char type);
  Index read_string(char type);
  Index read_long();
  Index read_text_float();
  Index read_reference(const std::vector<std::uint32_t>& known);
  Index read_sequence(std::optional<std::uint32_t> size, int depth);
  Index read_dict(int depth);

  Index add(Kind kind, std::uint64_t payload, std::uint32_t size = 0);
  Index add_container(Kind kind, std::size_t first_pending);
  Index fail(const char* what);

  // Lengths: a signed 32-bit number, or one byte in the short forms.
  std::optional<std::uint32_t> take_size();
  std::optional<std::uint32_t> take_short_size();

  MarshalDocument& document_;
  ByteCursor cursor_;
  std::vector<std::uint32_t> references_;  // version 3 and later: flagged objects, in order
  std::vector<std::uint32_t> interned_;    // version 1 and 2: interned strings, in order
  std::vector<std::uint32_t> pending_;     // links of the containers being read
  std::string error_;                      // empty after a failure: the bytes ended
};

Result<MarshalDocument> MarshalReader::read(std::string bytes) {
  MarshalDocument document;
  document.bytes_ = std::move(bytes);
  MarshalReader reader{document};
  Index root = reader.read_value(0);
  if (root && !reader.cursor_.at_end()) root = reader.fail("more bytes after the end of the dump");
  if (!root) {
    const std::string why = reader.error_.empty() ? "the dump ends inside a value" : reader.error_;
    return Error{"byte " + std::to_string(reader.cursor_.at()) + ": " + why};
  }
  document.root_ = *root;
  return document;
}

MarshalReader::Index MarshalReader::read_value(int depth) {
  const auto first = cursor_.take(1);
  if (!first) return std::nullopt;
  const auto byte = static_cast<unsigned char>(first->front());
  return read_object(static_cast<char>(byte & ~kReferableFlag), (byte & kReferableFlag) != 0,
                     depth);
}

MarshalReader::Index MarshalReader::read_object(char type, bool referable, int depth) {
  if (depth > kMaxMarshalDepth) return fail("nested too deep");
  if (type == 'r') return read_reference(references_);
  if (type == 'R') return read_reference(interned_);
  // Python numbers an object when it begins, so before the objects inside it; singletons never.
  const std::size_t number = references_.size();
  const bool numbered = referable && !is_singleton(type);
  if (numbered) references_.push_back(kUnfinished);
  Index found;
  switch (type) {
    case '(':
    case '[':
      found = read_sequence(take_size(), depth);
      break;
    case ')':
      found = read_sequence(take_short_size(), depth);
      break;
    case '{':
      found = read_dict(depth);
      break;
    default:
      found = read_plain(type);
  }
  if (found && numbered) references_[number] = *found;
  return found;
}

MarshalReader::Index MarshalReader::read_plain(char type) {
  switch (type) {
    case 'N':
      return add(Kind::none, 0);
    case 'T':
    case 'F':
      return add(Kind::boolean, type == 'T' ? 1 : 0);
    case 'i':
    case 'I':
    case 'g':
      return read_number(type);
    case 'l':
      return read_long();
    case 'f':
      return read_text_float();
    case 's':
    case 't':
    case 'u':
    case 'a':
    case 'A':
    case 'z':
    case 'Z':
      return read_string(type);
    default:
      return fail("a value that profiles do not hold, or no dump at all");
  }
}

MarshalReader::Index MarshalReader::read_number(char type) {
  if (type == 'i') {
    const auto value = cursor_.number<std::uint32_t>();
    if (!value) return std::nullopt;
    const std::int64_t extended = static_cast<std::int32_t>(*value);
    return add(Kind::integer, static_cast<std::uint64_t>(extended));
  }
  const auto bits = cursor_.number<std::uint64_t>();
  if (!bits) return std::nullopt;
  return add(type == 'I' ? Kind::integer : Kind::real, *bits);
}

MarshalReader::Index MarshalReader::read_string(char type) {
  const auto size = type == 'z' || type == 'Z' ? take_short_size() : take_size();
  if (!size) return std::nullopt;
  const std::size_t first = cursor_.at();
  if (!cursor_.take(*size)) return std::nullopt;
  const Index text = add(Kind::text, first, *size);
  if (text && type == 't') interned_.push_back(*text);
  return text;
}

// Digits of 15 bits, least significant first; the sign of their count is the sign of the number.
MarshalReader::Index MarshalReader::read_long() {
  const auto count = cursor_.number<std::uint32_t>();
  if (!count) return std::nullopt;
  const bool negative = static_cast<std::int32_t>(*count) < 0;
  const std::uint32_t digits = negative ? 0U - *count : *count;
  std::uint64_t magnitude = 0;
  for (std::uint32_t i = 0; i < digits; ++i) {
    const auto digit = cursor_.number<std::uint16_t>();
    if (!digit) return std::nullopt;
    if (*digit >> kLongDigitBits != 0) return fail("a digit of an integer is too large");
    const std::uint32_t shift = i * kLongDigitBits;
    const bool fits = shift < 63 && (std::uint64_t{*digit} << shift) >> 63U == 0 &&
                      (std::uint64_t{*digit} << shift) >> shift == *digit;
    if (!fits) return fail("an integer of more than 63 bits");
    magnitude |= std::uint64_t{*digit} << shift;
  }
  return add(Kind::integer, negative ? 0 - magnitude : magnitude);
}

MarshalReader::Index MarshalReader::read_text_float() {
  const auto size = take_short_size();
  if (!size) return std::nullopt;
  const auto text = cursor_.take(*size);
  if (!text) return std::nullopt;
  double value = 0;
  const char* const end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, value);
  if (error != std::errc{} || stop != end) return fail("a float that is no number");
  return add(Kind::real, std::bit_cast<std::uint64_t>(value));
}

MarshalReader::Index MarshalReader::read_reference(const std::vector<std::uint32_t>& known) {
  const auto number = cursor_.number<std::uint32_t>();
  if (!number) return std::nullopt;
  if (*number >= known.size()) return fail("a reference to nothing");
  if (known[*number] == kUnfinished) return fail("a value that holds itself");
  return known[*number];
}

MarshalReader::Index MarshalReader::read_sequence(std::optional<std::uint32_t> size, int depth) {
  if (!size) return std::nullopt;
  const std::size_t first = pending_.size();
  for (std::uint32_t i = 0; i < *size; ++i) {
    const Index item = read_value(depth + 1);
    if (!item) return std::nullopt;
    pending_.push_back(*item);
  }
  return add_container(Kind::sequence, first);
}

MarshalReader::Index MarshalReader::read_dict(int depth) {
  const std::size_t first = pending_.size();
  while (!cursor_.next_is(kEndOfDict)) {
    const Index key = read_value(depth + 1);
    if (!key) return std::nullopt;
    pending_.push_back(*key);
    const Index value = read_value(depth + 1);
    if (!value) return std::nullopt;
    pending_.push_back(*value);
  }
  cursor_.take(1);
  return add_container(Kind::dict, first);
}

MarshalReader::Index MarshalReader::add(Kind kind, std::uint64_t payload, std::uint32_t size) {
  if (document_.nodes_.size() == kMaxMarshalValues) return fail("too many values");
  document_.nodes_.push_back({kind, size, payload});
  return static_cast<std::uint32_t>(document_.nodes_.size() - 1);
}

MarshalReader::Index MarshalReader::add_container(Kind kind, std::size_t first_pending) {
  std::vector<std::uint32_t>& links = document_.links_;
  const std::size_t begin = links.size();
  const auto from = pending_.begin() + static_cast<std::ptrdiff_t>(first_pending);
  const auto size = static_cast<std::uint32_t>(pending_.end() - from);
  links.insert(links.end(), from, pending_.end());
  pending_.erase(from, pending_.end());
  return add(kind, begin, size);
}

MarshalReader::Index MarshalReader::fail(const char* what) {
  error_ = what;
  return std::nullopt;
}

std::optional<std::uint32_t> MarshalReader::take_size() {
  const auto size = cursor_.number<std::uint32_t>();
  if (size && static_cast<std::int32_t>(*size) < 0) {
    fail("a negative size");
    return std::nullopt;
  }
  return size;
}

std::optional<std::uint32_t> MarshalReader::take_short_size() {
  const auto size = cursor_.number<std::uint8_t>();
  if (!size) return std::nullopt;
  return *size;
}

Result<MarshalDocument> read_marshal(std::string bytes) {
  if (bytes.size() > kMaxMarshalBytes) {
    return Error{"a dump of " + std::to_string(bytes.size()) + " bytes, at most " +
                 std::to_string(kMaxMarshalBytes) + " are read"};
  }
  return MarshalReader::read(std::move(bytes));
}

}  // namespace trainwatch
