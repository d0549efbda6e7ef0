// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/declared/line_ends.h"

#include <algorithm>
#include <cstring>

namespace trainwatch {
namespace {

// string_view::rfind() compares byte by byte.
std::size_t find_last(std::string_view text, char c) {
  if (text.empty()) return std::string_view::npos;  // its data may be null
  const void* const found = ::memrchr(text.data(), c, text.size());
  if (found == nullptr) return std::string_view::npos;
  return static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

}  // namespace

std::size_t line_end(std::string_view text, std::size_t from) {
  // In pieces: where only carriage returns end lines, the search for a line feed stops there.
  constexpr std::size_t kPiece = 512;
  for (; from < text.size(); from += kPiece) {
    std::string_view piece = text.substr(from, kPiece);
    const std::size_t feed = piece.find('\n');
    piece = piece.substr(0, feed);
    const std::size_t end = std::min(feed, piece.find('\r'));
    if (end != std::string_view::npos) return from + end;
  }
  return std::string_view::npos;
}

std::size_t last_line_end(std::string_view text) {
  const std::size_t feed = find_last(text, '\n');
  const std::size_t behind = feed + 1;  // 0 if there is no line feed
  const std::size_t back = find_last(text.substr(behind), '\r');
  return back == std::string_view::npos ? feed : behind + back;
}

}  // namespace trainwatch
