// SPDX-License-Identifier: Apache-2.0
// The body of a response that is too large for memory: it is complete, lies on disk, and is read in
// pieces while it is sent.
#pragma once

#include <cstdint>
#include <span>

namespace trainwatch {

class StoredBody {
 public:
  virtual ~StoredBody() = default;
  // Bytes; does not change.
  virtual std::uint64_t size() const = 0;
  // Fills the whole buffer from `offset` on. False: the storage failed, and the response is cut.
  virtual bool read(std::uint64_t offset, std::span<char> buffer) = 0;
};

}  // namespace trainwatch
