// SPDX-License-Identifier: Apache-2.0
// Deflates one gzip member as a stream: with zlib, always available, or with ISA-L, in about a
// third of the time, where installed.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace trainwatch {

class MemberDeflater {
 public:
  virtual ~MemberDeflater() = default;
  // Removes what it consumes from the front of `input`, and returns how much of `output` it filled.
  // If it filled all of it, call it again, even without input. `last`: the member ends with
  // `input`.
  virtual std::size_t deflate(std::string_view& input, bool last, std::span<char> output) = 0;
};

// `level`: zlib's.
std::unique_ptr<MemberDeflater> make_zlib_deflater(int level);
// As fast as it can. Null when built without ISA-L.
std::unique_ptr<MemberDeflater> make_isal_deflater();

}  // namespace trainwatch
