// SPDX-License-Identifier: Apache-2.0
// Chance that one number decides: the same seed gives the same run on every machine.
#pragma once

#include <cstdint>
#include <string_view>

namespace trainwatch::test {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(mix(seed)) {}

  // 0 .. n-1; splitmix64.
  std::uint64_t pick(std::uint64_t n) { return mix(state_ += 0x9E3779B97F4A7C15U) % n; }
  std::uint64_t between(std::uint64_t least, std::uint64_t most) {
    return least + pick(most - least + 1);
  }
  bool one_in(std::uint64_t n) { return pick(n) == 0; }

  // Half of all seeds have what `name` names; no throw is used up.
  static bool has(std::uint64_t seed, std::string_view name) {
    std::uint64_t z = mix(seed);
    for (const char c : name) z = mix(z + static_cast<unsigned char>(c));
    return z % 2 == 0;
  }

 private:
  static std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
  }

  std::uint64_t state_;
};

}  // namespace trainwatch::test
