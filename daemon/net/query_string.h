// What follows the '?' of a request: names and values, percent-decoded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trainwatch {

using QueryParameters = std::vector<std::pair<std::string, std::string>>;

// Nothing when an escape is malformed or decodes to a control character.
std::optional<QueryParameters> parse_query(std::string_view query);

// All of `text` as a decimal number without sign.
std::optional<std::uint64_t> parse_unsigned(std::string_view text);

// "a,b,,c" -> a b c
std::vector<std::string> split_list(std::string_view text);

}  // namespace trainwatch
