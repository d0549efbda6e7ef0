// SPDX-License-Identifier: Apache-2.0
#include "daemon/net/serialized_response.h"

#include <algorithm>
#include <utility>

#include "daemon/net/stored_body.h"

namespace trainwatch {

SerializedResponse::SerializedResponse(HttpResponse response, bool head_only, bool keep_alive)
    : head_(serialize_head(response, keep_alive)) {
  if (!head_only && response.status != 304) {
    stored_ = std::move(response.stored_body);
    shared_ = std::move(response.shared_body);
    if (!stored_ && !shared_) head_ += response.body;
  }
  size_ = head_.size() + (stored_ ? stored_->size() : shared_ ? shared_->size() : 0);
}

std::size_t SerializedResponse::memory() const {
  if (stored_) return head_.size() + kPieceBytes;
  return head_.size() + (shared_ ? shared_->size() : 0);
}

std::optional<SerializedResponse::Bytes> SerializedResponse::after(std::uint64_t sent) {
  const auto of_head = static_cast<std::size_t>(std::min<std::uint64_t>(sent, head_.size()));
  Bytes bytes{std::string_view(head_).substr(of_head), {}};
  const std::uint64_t at = sent - of_head;  // in the body
  if (shared_) bytes[1] = std::string_view(*shared_).substr(at);
  if (!stored_ || at >= stored_->size()) return bytes;
  if (at < piece_begin_ || at >= piece_begin_ + piece_.size()) {
    piece_begin_ = at;
    piece_.resize(std::min<std::uint64_t>(kPieceBytes, stored_->size() - at));
    if (!stored_->read(at, piece_)) return std::nullopt;
  }
  bytes[1] = std::string_view(piece_).substr(at - piece_begin_);
  return bytes;
}

}  // namespace trainwatch
