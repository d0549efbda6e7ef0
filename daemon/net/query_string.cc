#include "daemon/net/query_string.h"

#include <charconv>

namespace trainwatch {
namespace {

std::optional<std::string> decode(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '+') c = ' ';
    if (c == '%') {
      unsigned code = 0;
      if (i + 2 >= text.size()) return std::nullopt;
      const char* end = text.data() + i + 3;
      if (std::from_chars(text.data() + i + 1, end, code, 16).ptr != end) return std::nullopt;
      c = static_cast<char>(code);
      i += 2;
    }
    if (static_cast<unsigned char>(c) < 0x20) return std::nullopt;
    out += c;
  }
  return out;
}

// Takes the part of `rest` up to `separator` off it.
std::string_view take_part(std::string_view& rest, char separator) {
  const auto part = rest.substr(0, rest.find(separator));
  rest.remove_prefix(std::min(rest.size(), part.size() + 1));
  return part;
}

}  // namespace

std::optional<QueryParameters> parse_query(std::string_view query) {
  QueryParameters parameters;
  while (!query.empty()) {
    auto value = take_part(query, '&');
    if (value.empty()) continue;
    const auto name = take_part(value, '=');
    auto decoded_name = decode(name);
    auto decoded_value = decode(value);
    if (!decoded_name || !decoded_value) return std::nullopt;
    parameters.emplace_back(std::move(*decoded_name), std::move(*decoded_value));
  }
  return parameters;
}

std::optional<std::uint64_t> parse_unsigned(std::string_view text) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (text.empty() || error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> items;
  while (!text.empty()) {
    const auto item = take_part(text, ',');
    if (!item.empty()) items.emplace_back(item);
  }
  return items;
}

}  // namespace trainwatch
