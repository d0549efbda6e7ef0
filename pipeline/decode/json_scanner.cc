// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/json_scanner.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace trainwatch {
namespace {

// What a bracket needs to know of its surroundings.
struct Place {
  const char* data = nullptr;
  std::size_t offset = 0;
  bool line_start = false;
};

// The last thing before this place is a comma.
bool follows_comma(const Place& place, char before) {
  for (std::size_t at = place.offset; at > 0; --at) {
    const char c = place.data[at - 1];
    if (static_cast<unsigned char>(c) > ' ') return c == ',';
  }
  return before == ',';
}

// An opening bracket outside of strings and inside a record. Nothing is wrong: end_of_bytes.
inline ScanStop open_nested(const Place& place, ScanState& state) {
  const bool object = place.data[place.offset] == '{';
  if (object && (place.line_start || (state.depth == 1 && follows_comma(place, state.before)))) {
    return ScanStop::torn;
  }
  if (state.depth == kMaxDepth) return ScanStop::too_deep;
  ++state.depth;
  return ScanStop::end_of_bytes;
}

// A bracket outside of strings. False: the scan stops before or after it, as `stop` says.
inline bool take_bracket(const Place& place, ScanState& state, std::vector<RecordMark>& marks,
                         ScanStop& stop) {
  const char c = place.data[place.offset];
  if (c == '{' || c == '[') {
    if (state.depth > 0) {
      stop = open_nested(place, state);
      return stop == ScanStop::end_of_bytes;
    }
    if (c == '[') return true;
    marks.push_back({static_cast<std::uint32_t>(place.offset), RecordEdge::begin});
    state.depth = 1;
    return true;
  }
  if (state.depth == 0) {
    if (c == '}') return true;
    stop = ScanStop::closed;
    return false;
  }
  if (--state.depth == 0)
    marks.push_back({static_cast<std::uint32_t>(place.offset), RecordEdge::end});
  return true;
}

ScanResult end_of(std::string_view bytes, ScanResult result, ScanState& state) {
  for (std::size_t at = result.consumed; at > 0; --at) {
    if (static_cast<unsigned char>(bytes[at - 1]) <= ' ') continue;
    state.before = bytes[at - 1];
    break;
  }
  return result;
}

ScanResult scan_scalar(const char* data, std::size_t begin, std::size_t end, ScanState& state,
                       std::vector<RecordMark>& marks) {
  for (std::size_t i = begin; i < end; ++i) {
    const char c = data[i];
    const bool was_escaped = state.escaped;
    const bool line_start = state.line_start;
    if (state.in_string && c == '\n') return {i, ScanStop::broken_string};
    if (!state.in_string && (c == '{' || c == '[' || c == '}' || c == ']')) {
      ScanStop stop{};
      if (!take_bracket({data, i, line_start}, state, marks, stop)) {
        if (stop != ScanStop::closed) return {i, stop};
        state.escaped = state.line_start = false;
        return {i + 1, stop};
      }
    }
    state.escaped = !was_escaped && c == '\\';
    state.line_start = c == '\n';
    if (c == '"' && !was_escaped) state.in_string = !state.in_string;
  }
  return {end, ScanStop::end_of_bytes};
}

#if defined(__x86_64__)
#define TW_AVX2 __attribute__((target("avx2,pclmul,popcnt,bmi")))

constexpr std::size_t kBlock = 64;

struct Block {
  __m256i low;
  __m256i high;
};

TW_AVX2 inline std::uint64_t equal_mask(const Block& block, char c) {
  const __m256i wanted = _mm256_set1_epi8(c);
  const auto low =
      static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(block.low, wanted)));
  const auto high =
      static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(block.high, wanted)));
  return low | (static_cast<std::uint64_t>(high) << 32U);
}

// Which bytes a backslash escapes. Runs of backslashes are resolved by one addition, see
// Langdale and Lemire, "Parsing gigabytes of JSON per second" (2019), section 3.1.1.
inline std::uint64_t escaped_mask(std::uint64_t backslash, std::uint64_t& carry) {
  if (backslash == 0) {
    const std::uint64_t escaped = carry;
    carry = 0;
    return escaped;
  }
  constexpr std::uint64_t kOddBits = 0xAAAAAAAAAAAAAAAAULL;
  const std::uint64_t starts = backslash & ~carry;
  const std::uint64_t codes = (((starts << 1U) | kOddBits) - starts) ^ kOddBits;
  const std::uint64_t escaped = codes ^ (backslash | carry);
  carry = (codes & backslash) >> 63U;
  return escaped;
}

struct Masks {
  std::uint64_t open = 0;   // { and [ outside of strings
  std::uint64_t close = 0;  // } and ] outside of strings
  std::uint64_t line_break = 0;
  std::uint64_t in_string = 0;
};

TW_AVX2 inline Masks classify(const char* p, std::uint64_t& in_string, std::uint64_t& escape) {
  Block block{_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)),
              _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + kBlock / 2))};
  Masks masks;
  const std::uint64_t quotes =
      equal_mask(block, '"') & ~escaped_mask(equal_mask(block, '\\'), escape);
  const __m128i product = _mm_clmulepi64_si128(_mm_set_epi64x(0, static_cast<long long>(quotes)),
                                               _mm_set1_epi8(static_cast<char>(0xFF)), 0);
  masks.in_string = static_cast<std::uint64_t>(_mm_cvtsi128_si64(product)) ^ in_string;
  in_string = (masks.in_string >> 63U) != 0 ? ~std::uint64_t{0} : 0;
  masks.line_break = equal_mask(block, '\n');
  const __m256i fold = _mm256_set1_epi8(0x20);  // '[' | 0x20 == '{', ']' | 0x20 == '}'
  block.low = _mm256_or_si256(block.low, fold);
  block.high = _mm256_or_si256(block.high, fold);
  masks.open = equal_mask(block, '{') & ~masks.in_string;
  masks.close = equal_mask(block, '}') & ~masks.in_string;
  return masks;
}

// Whole blocks only; `consumed` of the result is a multiple of the block size unless it stopped.
TW_AVX2 ScanResult scan_blocks(std::string_view bytes, ScanState& state,
                               std::vector<RecordMark>& marks) {
  const char* const data = bytes.data();
  const std::size_t end = bytes.size() - bytes.size() % kBlock;
  std::uint64_t in_string = state.in_string ? ~std::uint64_t{0} : 0;
  std::uint64_t escape = state.escaped ? 1 : 0;
  std::uint64_t line_start = state.line_start ? 1 : 0;
  for (std::size_t at = 0; at < end; at += kBlock) {
    const bool was_in_string = in_string != 0;
    const bool was_escaped = escape != 0;
    const Masks masks = classify(data + at, in_string, escape);
    if ((masks.line_break & masks.in_string) != 0) {
      state.in_string = was_in_string;
      state.escaped = was_escaped;
      state.line_start = line_start != 0;
      return scan_scalar(data, at, at + kBlock, state, marks);  // stops inside this block
    }
    const std::uint64_t line_starts = (masks.line_break << 1U) | line_start;
    line_start = masks.line_break >> 63U;
    const std::uint64_t brackets = masks.open | masks.close;
    if (brackets == 0) continue;
    const auto opened = static_cast<std::int64_t>(__builtin_popcountll(masks.open));
    const auto closed = static_cast<std::int64_t>(__builtin_popcountll(masks.close));
    const std::int64_t lowest = state.depth - closed;
    const bool inside = lowest > 1 || (lowest == 1 && opened == 0);
    if (inside && (line_starts & masks.open) == 0 && state.depth + opened <= kMaxDepth) {
      state.depth += opened - closed;
      continue;
    }
    for (std::uint64_t rest = brackets; rest != 0; rest &= rest - 1) {
      const auto bit = static_cast<std::size_t>(__builtin_ctzll(rest));
      ScanStop stop{};
      const bool begins_line = ((line_starts >> bit) & 1U) != 0;
      if (take_bracket({data, at + bit, begins_line}, state, marks, stop)) continue;
      const bool consumed = stop == ScanStop::closed;
      state.in_string = state.escaped = false;
      state.line_start = !consumed && begins_line;
      return {at + bit + (consumed ? 1 : 0), stop};
    }
  }
  state.in_string = in_string != 0;
  state.escaped = escape != 0;
  state.line_start = line_start != 0;
  return {end, ScanStop::end_of_bytes};
}

bool has_avx2() {
  static const bool supported =
      __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("pclmul") != 0 &&
      __builtin_cpu_supports("popcnt") != 0 && __builtin_cpu_supports("bmi") != 0;
  return supported;
}
#endif

}  // namespace

ScanResult scan_records_scalar(std::string_view bytes, ScanState& state,
                               std::vector<RecordMark>& marks) {
  return end_of(bytes, scan_scalar(bytes.data(), 0, bytes.size(), state, marks), state);
}

ScanResult scan_records(std::string_view bytes, ScanState& state, std::vector<RecordMark>& marks) {
  std::size_t scanned = 0;
#if defined(__x86_64__)
  if (has_avx2()) {
    const ScanResult result = scan_blocks(bytes, state, marks);
    if (result.stop != ScanStop::end_of_bytes) return end_of(bytes, result, state);
    scanned = result.consumed;
  }
#endif
  return end_of(bytes, scan_scalar(bytes.data(), scanned, bytes.size(), state, marks), state);
}

}  // namespace trainwatch
