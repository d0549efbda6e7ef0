// SPDX-License-Identifier: Apache-2.0
// A response as bytes: what is to be sent next, and how much of it is in memory. Net thread only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/net/http_message.h"

namespace trainwatch {

class SerializedResponse {
 public:
  // So much of a stored body is in memory at a time.
  static constexpr std::size_t kPieceBytes = std::size_t{256} << 10U;

  SerializedResponse() = default;
  // With the headers common to all responses; without the body if `head_only`.
  SerializedResponse(HttpResponse response, bool head_only, bool keep_alive);

  // Bytes to send, all together.
  std::uint64_t size() const { return size_; }
  // Bytes that it holds in memory.
  std::size_t memory() const;

  // What is to be sent after `sent` bytes, at least one byte if there is more; valid until the next
  // call. nullopt: the stored body cannot be read.
  using Bytes = std::array<std::string_view, 2>;
  std::optional<Bytes> after(std::uint64_t sent);

 private:
  std::string head_;  // with a body of its own behind it
  std::shared_ptr<const std::string> shared_;
  std::shared_ptr<StoredBody> stored_;
  std::uint64_t size_ = 0;
  std::string piece_;              // of the stored body
  std::uint64_t piece_begin_ = 0;  // in it
};

}  // namespace trainwatch
