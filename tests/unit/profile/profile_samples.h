// SPDX-License-Identifier: Apache-2.0
// Recorded profiles, tests/data/python-profile, and marshal dumps made by hand.
#pragma once

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "support/source_path.h"

namespace trainwatch::test {

inline const std::string kRecorded = source_path("tests/data/python-profile");

inline std::string read_recorded(std::string_view name) {
  std::ifstream file{kRecorded + '/' + std::string{name}, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

// Bytes with NULs in them.
template <std::size_t size>
std::string bytes(const char (&text)[size]) {
  return {text, size - 1};
}

inline std::string marshal_int(std::int32_t value) {
  std::string dump = "i";
  for (int shift = 0; shift < 32; shift += 8) {
    dump += static_cast<char>(static_cast<std::uint32_t>(value) >> shift);
  }
  return dump;
}

inline std::string marshal_text(std::string_view text) {
  return std::string{'z', static_cast<char>(text.size())} + std::string{text};
}

// A float as versions 0 and 1 write it.
inline std::string marshal_float(std::string_view digits) {
  return std::string{'f', static_cast<char>(digits.size())} + std::string{digits};
}

template <class... Items>
std::string marshal_tuple(const Items&... items) {
  return std::string{')', static_cast<char>(sizeof...(items))} + (std::string{} + ... + items);
}

}  // namespace trainwatch::test
