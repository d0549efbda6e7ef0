// How rules print figures in their sentences.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trainwatch::format {

// Three significant digits: "0.212", "15.1", "1234".
std::string figure(double number);
std::string seconds(double number);   // "3.21 s"; below a millisecond "212 us"
std::string percent(double number);   // "70.2 %"
std::string ordinal(std::int64_t n);  // "20th", "21st"
// The text, cut with "..." when it is longer than `limit` bytes.
std::string cut(std::string_view text, std::size_t limit);

}  // namespace trainwatch::format
