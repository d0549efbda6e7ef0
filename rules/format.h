// SPDX-License-Identifier: Apache-2.0
// How rules print figures in their sentences.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trainwatch::format {

// Three significant digits: "0.212", "15.1", "1234".
std::string figure(double number);
// A duration as a person reads it: "212 us", "8.2 ms", "3.21 s", "30 min", "2.5 h".
std::string seconds(double number);
std::string percent(double number);  // "70.2 %"
// What losing this share of the time means: "; without that, training would be 1.31x faster". Empty
// if little else is left.
std::string saving(double share);
std::string ordinal(std::int64_t n);  // "20th", "21st"
// The text, cut with "..." when it is longer than `limit` bytes.
std::string cut(std::string_view text, std::size_t limit);

}  // namespace trainwatch::format
