// SPDX-License-Identifier: Apache-2.0
// Compiled for AVX2, and called only where the machine has it (block_digest.cc). Nothing else may
// be included here: an inline function of a library would be compiled for AVX2, too, and the linker
// might take it for the whole program.
#include <stddef.h>
#include <stdint.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace trainwatch {

void block_digest_avx2(const void* data, size_t size, uint64_t* digest) {
  const XXH128_hash_t hash = XXH3_128bits(data, size);
  digest[0] = hash.low64;
  digest[1] = hash.high64;
}

}  // namespace trainwatch
