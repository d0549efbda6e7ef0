// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/declared/literal_search.h"

#include <algorithm>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace trainwatch {
namespace {

constexpr std::size_t npos = std::string_view::npos;

// How common a byte is in what a job prints, roughly.
int commonness(char c) {
  if (c >= 'a' && c <= 'z') return 4;
  if (c == ' ' || (c >= '0' && c <= '9')) return 3;
  return c >= 'A' && c <= 'Z' ? 2 : 1;
}

std::size_t rarest_bytes(std::string_view text, std::size_t bytes) {
  std::size_t best = 0;
  int least = 1000;
  for (std::size_t at = 0; at + std::min(bytes, text.size()) <= text.size(); ++at) {
    int sum = 0;
    for (const char c : text.substr(at, bytes)) sum += commonness(c);
    if (sum < least) {
      least = sum;
      best = at;
    }
  }
  return best;
}

// The high half bytes, which tell blanks and punctuation, digits, and letters apart, then all.
std::string kinds_of_bytes(std::string_view bytes) {
  std::string kinds;
  for (const char c : bytes) kinds += static_cast<char>(static_cast<unsigned char>(c) >> 4U);
  return kinds.append(bytes);
}

std::uint32_t word_at(const char* four_bytes) {
  std::uint32_t word = 0;
  std::memcpy(&word, four_bytes, sizeof(word));
  return word;
}

}  // namespace

LiteralSearch::LiteralSearch(const std::vector<std::string_view>& literals, bool vectors) {
#if defined(__x86_64__)
  vectors_ = vectors && __builtin_cpu_supports("avx2") != 0;
#endif
  std::vector<Literal> all;
  all.reserve(literals.size());
  for (const std::string_view text : literals) {
    all.push_back({std::string(text), rarest_bytes(text, kBytes), 0});
  }
  // Neighbours share a group: the more alike their bytes are, the fewer others seem to be of it.
  // Those with fewer bytes, of which much seems to be, have the first.
  std::ranges::sort(all, {}, [](const Literal& literal) {
    return kinds_of_bytes(std::string_view(literal.text).substr(literal.chosen, kBytes));
  });
  const auto is_short = [](const Literal& literal) { return literal.text.size() < kBytes; };
  std::stable_partition(all.begin(), all.end(), is_short);
  const auto shorts = static_cast<std::size_t>(std::ranges::count_if(all, is_short));
  const std::size_t fill = (all.size() - shorts + kGroups - 2) / (kGroups - 1);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t group = i < shorts ? 0 : 1 + (i - shorts) / fill;
    add_masks(all[i], group);
    if (i >= shorts) {
      all[i].word = word_at(all[i].text.data() + all[i].chosen);
      hashes_.set(hash_of(all[i].word));
    }
    groups_[group].push_back(std::move(all[i]));
  }
}

// Of a literal with fewer bytes, any byte may follow.
void LiteralSearch::add_masks(const Literal& literal, std::size_t group) {
  const auto bit = static_cast<std::uint8_t>(1U << group);
  for (std::size_t i = 0; i < kBytes; ++i) {
    Masks& masks = masks_[i];
    if (literal.chosen + i >= literal.text.size()) {
      for (std::uint8_t& half : masks.low) half |= bit;
      for (std::uint8_t& half : masks.high) half |= bit;
      continue;
    }
    const auto byte = static_cast<std::uint8_t>(literal.text[literal.chosen + i]);
    masks.low[byte & 15U] |= bit;
    masks.high[byte >> 4U] |= bit;
  }
}

std::size_t LiteralSearch::find(std::string_view text, std::size_t from) const {
  if (vectors_) return find_by_avx2(text, from);
  std::size_t first = npos;
  for (const auto& group : groups_) {
    for (const Literal& literal : group) first = std::min(first, text.find(literal.text, from));
  }
  return first;
}

// Knuth's multiplicative hash.
std::size_t LiteralSearch::hash_of(std::uint32_t word) {
  return (word * 2654435769U) >> (32U - kHashBits);
}

// As begin_of(), for a place with kBytes behind it: nearly all that the masks let through are none,
// and their bytes show it. The first group has the literals with fewer.
std::size_t LiteralSearch::find_at(std::string_view text, std::size_t from, std::size_t place,
                                   unsigned groups) const {
  if ((groups & 1U) != 0) {
    const std::size_t begin = begin_of(text, from, place, 1);
    if (begin != npos) return begin;
    groups &= ~1U;
  }
  const std::uint32_t word = word_at(text.data() + place);
  if (!hashes_.test(hash_of(word))) return npos;
  for (; groups != 0; groups &= groups - 1) {
    for (const Literal& literal : groups_[static_cast<std::size_t>(std::countr_zero(groups))]) {
      if (literal.word != word || place < from + literal.chosen) continue;
      const std::size_t begin = place - literal.chosen;
      if (text.substr(begin, literal.text.size()) == literal.text) return begin;
    }
  }
  return npos;
}

// Of a literal of these groups whose chosen bytes may be at `place`.
std::size_t LiteralSearch::begin_of(std::string_view text, std::size_t from, std::size_t place,
                                    unsigned groups) const {
  for (; groups != 0; groups &= groups - 1) {
    for (const Literal& literal : groups_[static_cast<std::size_t>(std::countr_zero(groups))]) {
      if (place < from + literal.chosen) continue;
      const std::size_t begin = place - literal.chosen;
      if (text[begin] != literal.text.front()) continue;
      if (text.substr(begin, literal.text.size()) == literal.text) return begin;
    }
  }
  return npos;
}

#if defined(__x86_64__)
namespace {

template <class Halves>
[[gnu::target("avx2"), gnu::always_inline]] inline __m256i table_of(const Halves& halves) {
  return _mm256_broadcastsi128_si256(
      _mm_loadu_si128(reinterpret_cast<const __m128i*>(halves.data())));
}

// The groups that have such a byte, for each of 32.
[[gnu::target("avx2"), gnu::always_inline]] inline __m256i groups_of(__m256i bytes, __m256i low,
                                                                     __m256i high) {
  const __m256i half = _mm256_set1_epi8(15);
  return _mm256_and_si256(
      _mm256_shuffle_epi8(low, _mm256_and_si256(bytes, half)),
      _mm256_shuffle_epi8(high, _mm256_and_si256(_mm256_srli_epi16(bytes, 4), half)));
}

[[gnu::target("avx2"), gnu::always_inline]] inline __m256i bytes_at(const char* at) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
}

}  // namespace

[[gnu::target("avx2")]] std::size_t LiteralSearch::find_by_avx2(std::string_view text,
                                                                std::size_t from) const {
  constexpr std::size_t kWidth = sizeof(__m256i);
  const __m256i low[kBytes] = {table_of(masks_[0].low), table_of(masks_[1].low),
                               table_of(masks_[2].low), table_of(masks_[3].low)};
  const __m256i high[kBytes] = {table_of(masks_[0].high), table_of(masks_[1].high),
                                table_of(masks_[2].high), table_of(masks_[3].high)};
  std::size_t at = from;
  for (; at + kWidth + kBytes - 1 <= text.size(); at += kWidth) {
    const char* const data = text.data() + at;
    const __m256i groups =
        _mm256_and_si256(_mm256_and_si256(groups_of(bytes_at(data), low[0], high[0]),
                                          groups_of(bytes_at(data + 1), low[1], high[1])),
                         _mm256_and_si256(groups_of(bytes_at(data + 2), low[2], high[2]),
                                          groups_of(bytes_at(data + 3), low[3], high[3])));
    auto places = ~static_cast<std::uint32_t>(
        _mm256_movemask_epi8(_mm256_cmpeq_epi8(groups, _mm256_setzero_si256())));
    if (places == 0) continue;
    std::array<std::uint8_t, kWidth> found;
    std::memcpy(found.data(), &groups, kWidth);
    for (; places != 0; places &= places - 1) {
      const auto place = static_cast<std::size_t>(std::countr_zero(places));
      const std::size_t begin = find_at(text, from, at + place, found[place]);
      if (begin != npos) return begin;
    }
  }
  constexpr unsigned kAll = (1U << kGroups) - 1;
  for (; at < text.size(); ++at) {
    const std::size_t begin = begin_of(text, from, at, kAll);
    if (begin != npos) return begin;
  }
  return npos;
}
#else
std::size_t LiteralSearch::find_by_avx2(std::string_view, std::size_t) const {
  return npos;
}
#endif

std::shared_ptr<const LiteralSearch> LiteralSearches::of(
    const std::vector<std::string_view>& literals) {
  std::erase_if(known_, [](const auto& search) { return search.second.expired(); });
  std::weak_ptr<const LiteralSearch>& known = known_[literals];
  std::shared_ptr<const LiteralSearch> search = known.lock();
  if (search == nullptr) {
    search = std::make_shared<const LiteralSearch>(literals);
    known = search;
  }
  return search;
}

}  // namespace trainwatch
