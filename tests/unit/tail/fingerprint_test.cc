// SPDX-License-Identifier: Apache-2.0
// A fingerprint depends only on the bytes, not on how they were extended and cut.
#include "pipeline/tail/fingerprint.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace trainwatch::fingerprint_test {

constexpr std::size_t kMost = 3 * Fingerprint::kBlock;

std::string contents() {
  std::string text;
  for (std::size_t i = 0; text.size() < kMost; ++i) text += std::to_string(i * i) + "\n";
  return text.substr(0, kMost);
}

Fingerprint print_of(std::string_view bytes) {
  Fingerprint print;
  print.extend(bytes);
  return print;
}

TEST(Fingerprint, BytesAreTheSameInAnyPieces) {
  const std::string all = contents();
  for (const std::size_t size : {1U, 7U, 256U, 1000U, 1024U, 1280U}) {
    Fingerprint print;
    for (std::size_t at = 0; at < all.size(); at += size) {
      print.extend(std::string_view(all).substr(at, size));
      ASSERT_EQ(print, print_of(all.substr(0, at + size))) << size << " " << at;
    }
  }
}

// A cut without further bytes, or with fewer, as when PyTorch closes a trace.
TEST(Fingerprint, BytesThatWereCutOffLeaveNothingBehind) {
  const std::string all = contents();
  for (std::size_t size = 1; size <= all.size(); ++size) {
    for (const std::size_t cut : {1U, 2U, 100U, 256U}) {
      if (cut > size) continue;
      const std::string_view rest = std::string_view(all).substr(0, size - cut);
      Fingerprint print = print_of(all.substr(0, size));
      print.cut(cut);
      ASSERT_EQ(print, print_of(rest)) << size << " " << cut;
      ASSERT_EQ(print_of(rest), print) << size << " " << cut;
      ASSERT_TRUE(print.begins_like(all)) << size << " " << cut;
    }
  }
}

TEST(Fingerprint, OtherBytesDiffer) {
  const std::string all = contents();
  for (std::size_t at = 0; at < all.size(); at += 13) {
    std::string other = all;
    other[at] ^= 1;
    for (const std::size_t cut : {0U, 2U, 256U}) {
      for (const std::size_t size : {all.size(), Fingerprint::kBlock + Fingerprint::kTail}) {
        if (at >= size - cut) continue;
        Fingerprint print = print_of(other.substr(0, size));
        print.cut(cut);
        ASSERT_NE(print, print_of(all.substr(0, size - cut))) << at << " " << cut << " " << size;
      }
    }
  }
}

TEST(Fingerprint, WhatFollowsACutIsReadOn) {
  const std::string all = contents();
  for (std::size_t size = Fingerprint::kTail; size + 100 <= all.size(); size += 17) {
    Fingerprint print = print_of(all.substr(0, size));
    print.cut(Fingerprint::kTail);
    print.extend(std::string_view(all).substr(size - Fingerprint::kTail));
    ASSERT_EQ(print, print_of(all)) << size;
  }
}

}  // namespace trainwatch::fingerprint_test
