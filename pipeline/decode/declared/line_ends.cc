#include "pipeline/decode/declared/line_ends.h"

#include <algorithm>
#include <cstring>

namespace trainwatch {
namespace {

std::size_t place_of(const void* found, std::string_view text) {
  return found == nullptr ? std::string_view::npos
                          : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

}  // namespace

// By memchr(), as find_first_of() asks of every byte whether it is one of a set.
std::size_t line_end(std::string_view text, std::size_t from) {
  // In pieces: where only carriage returns end lines, a line feed is searched for no further.
  constexpr std::size_t kPiece = 512;
  for (; from < text.size(); from += kPiece) {
    std::string_view piece = text.substr(from, kPiece);
    const std::size_t feed = place_of(std::memchr(piece.data(), '\n', piece.size()), text);
    if (feed != std::string_view::npos) piece = piece.substr(0, feed - from);
    const std::size_t back = place_of(std::memchr(piece.data(), '\r', piece.size()), text);
    if (std::min(feed, back) != std::string_view::npos) return std::min(feed, back);
  }
  return std::string_view::npos;
}

std::size_t last_line_end(std::string_view text) {
  if (text.empty()) return std::string_view::npos;  // it may have no data
  const std::size_t feed = place_of(::memrchr(text.data(), '\n', text.size()), text);
  const std::string_view behind = feed == std::string_view::npos ? text : text.substr(feed + 1);
  const std::size_t back = place_of(::memrchr(behind.data(), '\r', behind.size()), text);
  return back == std::string_view::npos ? feed : back;
}

}  // namespace trainwatch
