// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tail/fingerprint_search.h"

#include <algorithm>
#include <cassert>

namespace trainwatch {
namespace {

std::span<char> at_most(std::span<char> buffer, std::uint64_t size) {
  return buffer.first(std::min<std::uint64_t>(buffer.size(), size));
}

}  // namespace

// During a truncation, Linux zeroes the bytes behind the new end before a concurrent read notices
// the new size. Zeros at the end of a piece are therefore read a second time.
Result<std::size_t> read_piece(OpenFile& file, std::uint64_t offset, std::span<char> buffer) {
  const auto got = file.read(offset, buffer);
  if (!got) return got;
  const std::size_t zeros = std::string_view(buffer.data(), *got).find_last_not_of('\0') + 1;
  if (zeros == *got) return got;  // npos + 1 is 0
  const auto again = file.read(offset + zeros, buffer.subspan(zeros, *got - zeros));
  return again ? Result<std::size_t>(zeros + *again) : again;
}

Result<std::string_view> read_fully(OpenFile& file, std::uint64_t offset, std::span<char> buffer) {
  std::size_t total = 0;
  for (std::size_t got = 1; got > 0 && total < buffer.size(); total += got) {
    const auto piece = read_piece(file, offset + total, buffer.subspan(total));
    if (!piece) return piece.error();
    got = *piece;
  }
  return std::string_view(buffer.data(), total);
}

Result<bool> begins_alike(OpenFile& file, const Fingerprint& read, std::span<char> buffer) {
  assert(buffer.size() >= Fingerprint::kBlock);
  const auto head = read_fully(file, 0, buffer.first(Fingerprint::kBlock));
  if (!head) return head.error();
  return read.begins_like(*head);
}

Result<bool> holds(OpenFile& file, const Fingerprint& read, std::span<char> buffer) {
  auto alike = begins_alike(file, read, buffer);
  if (!alike || !*alike) return alike;
  Fingerprint found;
  while (found.offset() < read.offset()) {
    const auto piece =
        read_fully(file, found.offset(), at_most(buffer, read.offset() - found.offset()));
    if (!piece) return piece.error();
    if (piece->empty()) return false;
    found.extend(*piece);
  }
  return found == read;
}

Result<bool> begins_with(OpenFile& file, std::string_view bytes, std::span<char> buffer) {
  assert(buffer.size() >= bytes.size());
  const auto head = read_fully(file, 0, buffer.first(bytes.size()));
  if (!head) return head.error();
  return *head == bytes;
}

Result<bool> same_beginning(OpenFile& copy, OpenFile& original, std::span<char> buffer) {
  const std::span<char> half = buffer.first(buffer.size() / 2);
  const std::span<char> other = buffer.subspan(half.size(), half.size());
  for (std::uint64_t at = 0;; at += half.size()) {
    const auto left = read_fully(copy, at, half);
    if (!left) return left.error();
    const auto right = read_fully(original, at, other);
    if (!right) return right.error();
    if (at == 0 && right->empty()) return left->empty();
    if (!left->starts_with(*right) && !right->starts_with(*left)) return false;
    if (std::min(left->size(), right->size()) < half.size()) return true;
  }
}

}  // namespace trainwatch
