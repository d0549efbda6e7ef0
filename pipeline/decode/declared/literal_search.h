// SPDX-License-Identifier: Apache-2.0
// Finds the first of several literals in one pass over the text.
//
// With AVX2, 32 places are looked at at once: four neighbouring bytes of each literal, those that
// text has least often, select by their half bytes which of eight groups of literals may be there
// (the method is that of Teddy, in Hyperscan). Of such places, those are compared whose four bytes
// have the hash of a literal's.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace trainwatch {

class LiteralSearch {
 public:
  LiteralSearch() = default;
  // Not empty, without line breaks. `vectors`: where the processor has them.
  explicit LiteralSearch(const std::vector<std::string_view>& literals, bool vectors = true);

  // The place at or behind `from` where one of the literals begins whose line has none before it;
  // npos: there is none.
  std::size_t find(std::string_view text, std::size_t from = 0) const;

 private:
  static constexpr std::size_t kBytes = 4;
  static constexpr std::size_t kGroups = 8;
  static constexpr unsigned kHashBits = 13;
  struct Literal {
    std::string text;
    std::size_t chosen = 0;  // where its bytes begin that are looked for
    std::uint32_t word = 0;  // these bytes; of a shorter literal 0
  };
  // By half byte, a bit for each group.
  using Halves = std::array<std::uint8_t, 16>;
  struct Masks {
    Halves low{};
    Halves high{};
  };

  void add_masks(const Literal& literal, std::size_t group);
  std::size_t find_by_avx2(std::string_view text, std::size_t from) const;
  static std::size_t hash_of(std::uint32_t word);
  std::size_t find_at(std::string_view text, std::size_t from, std::size_t place,
                      unsigned groups) const;
  std::size_t begin_of(std::string_view text, std::size_t from, std::size_t place,
                       unsigned groups) const;

  std::array<std::vector<Literal>, kGroups> groups_;
  std::array<Masks, kBytes> masks_;
  std::bitset<1 << kHashBits> hashes_;  // of the chosen bytes
  bool vectors_ = false;
};

// The searches of several texts: those that look for the same literals share one, which takes 6
// KiB.
class LiteralSearches {
 public:
  // The literals outlive the object.
  std::shared_ptr<const LiteralSearch> of(const std::vector<std::string_view>& literals);

 private:
  std::map<std::vector<std::string_view>, std::weak_ptr<const LiteralSearch>> known_;
};

}  // namespace trainwatch
