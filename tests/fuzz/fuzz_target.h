// SPDX-License-Identifier: Apache-2.0
// One entry for random bytes: a parser or a protocol, and what must hold for any input.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>

namespace trainwatch::fuzz {

struct FuzzTarget {
  std::string_view name{};  // also of its folder in corpus/
  // Ends the process by expect() if the invariant does not hold.
  void (*run)(std::string_view input) = nullptr;
  std::size_t max_bytes = 4096;  // of an input
};

// All targets; catalog.cc. A target is one file in targets/ and one row there.
std::span<const FuzzTarget> fuzz_targets();

// Null: there is no such target.
const FuzzTarget* find_fuzz_target(std::string_view name);

// Stops with a message if an invariant does not hold, so that libFuzzer keeps the input.
inline void expect(bool holds, const char* invariant) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: not so: %s\n", invariant);
  std::abort();
}

}  // namespace trainwatch::fuzz
