// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tail/block_digest.h"

#include <xxhash.h>

namespace trainwatch {

#ifdef TRAINWATCH_HAVE_AVX2
void block_digest_avx2(const void* data, std::size_t size, std::uint64_t* digest);
#endif

BlockDigest block_digest(const char* data, std::size_t size) {
#ifdef TRAINWATCH_HAVE_AVX2
  static const bool kAvx2 = __builtin_cpu_supports("avx2") != 0;
  if (kAvx2) {
    BlockDigest digest{};
    block_digest_avx2(data, size, digest.data());
    return digest;
  }
#endif
  const XXH128_hash_t hash = XXH3_128bits(data, size);
  return {hash.low64, hash.high64};
}

}  // namespace trainwatch
