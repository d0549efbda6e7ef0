// SPDX-License-Identifier: Apache-2.0
// How the report prints figures: with units, three significant digits, and thousands separators.
#pragma once

#include <cstdint>
#include <string>

namespace trainwatch::report_format {

std::string count(double number);    // "12,345"
std::string figure(double number);   // "0.212", "15.1", "12,345"
std::string percent(double number);  // "70.2 %"
std::string duration(
    double microseconds);            // "212 µs", "15.1 ms", "3.21 s", "12 min 05 s", "3 h 12 min"
std::string bytes(double number);    // "12.3 MiB"
std::string moment(double unix_us);  // UTC, "2026-11-21 06:30:00.123"
std::string exact(double number);    // as it reads back: "0.1", "1700000000000000"

}  // namespace trainwatch::report_format
