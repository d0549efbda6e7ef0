// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tail/fingerprint.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace trainwatch {
namespace {

// The digest of blocks in this order. Blocks that are repeated or swapped give another one.
BlockDigest chained(const BlockDigest& before, const BlockDigest& block) {
  constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15ULL;
  return {std::rotl(before[0] * kOdd, 31) + block[0], std::rotl(before[1] * kOdd, 29) ^ block[1]};
}

}  // namespace

void Fingerprint::take_block(std::string_view block, bool first) {
  const BlockDigest own = block_digest(block.data(), block.size());
  if (first) head_ = own;
  chain_ = chained(chain_, own);
}

void Fingerprint::extend(std::string_view bytes) {
  while (pending_.size() + bytes.size() >= kBlock + kTail) {
    const bool first = offset_ == pending_.size();
    const std::size_t more = kBlock - std::min(kBlock, pending_.size());
    if (pending_.empty()) {
      take_block(bytes.substr(0, kBlock), first);
    } else {
      pending_.append(bytes.substr(0, more));
      take_block(std::string_view(pending_).substr(0, kBlock), first);
      pending_.erase(0, kBlock);
    }
    offset_ += more;
    bytes.remove_prefix(more);
  }
  pending_.append(bytes);
  offset_ += bytes.size();
}

void Fingerprint::cut(std::size_t bytes) {
  assert(bytes <= tail().size());
  pending_.resize(pending_.size() - bytes);
  offset_ -= bytes;
}

std::string_view Fingerprint::tail() const {
  const std::string_view kept = pending_;
  return kept.substr(kept.size() - std::min(kTail, kept.size()));
}

bool Fingerprint::is_part_of_line() const {
  return offset_ < kTail && tail().find('\n') == std::string_view::npos;
}

bool Fingerprint::proves_nothing() const {
  return is_part_of_line() || tail().find_first_not_of('\0') == std::string_view::npos;
}

bool Fingerprint::ends_whole() const {
  const std::string_view end = tail();
  return !end.empty() && std::string_view("\n]}").find(end.back()) != std::string_view::npos;
}

bool Fingerprint::begins_like(std::string_view head) const {
  if (offset_ == pending_.size()) {
    const std::size_t known = std::min<std::size_t>(pending_.size(), kBlock);
    return head.substr(0, known) == std::string_view(pending_).substr(0, known);
  }
  return head.size() >= kBlock && block_digest(head.data(), kBlock) == head_;
}

// After a cut, the chain may include a block that is still pending in the other fingerprint.
bool Fingerprint::operator==(const Fingerprint& other) const {
  if (pending_.size() < other.pending_.size()) return other == *this;
  if (offset_ != other.offset_ || !pending_.ends_with(other.pending_)) return false;
  const std::size_t more = pending_.size() - other.pending_.size();
  if (more == 0) return head_ == other.head_ && chain_ == other.chain_;
  if (more != kBlock) return false;
  Fingerprint one = *this;
  one.take_block(std::string_view(pending_).substr(0, kBlock), offset_ == pending_.size());
  return one.head_ == other.head_ && one.chain_ == other.chain_;
}

void Fingerprint::state(StateIo& io) {
  io(offset_);
  io(head_);
  io(chain_);
  io(pending_);
  if (pending_.size() >= kBlock + kTail || pending_.size() > offset_) io.fail();
}

}  // namespace trainwatch
