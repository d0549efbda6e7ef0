// The JSON form of an alert, the same on every way out. README.md shows one.
#pragma once

#include <string>
#include <string_view>

#include "trainwatch/alert.h"

namespace trainwatch {

// One JSON object without line breaks. `epoch` and `seq` are left out when `epoch` is empty, as
// `trainwatch replay` prints them.
std::string to_json(const Alert& alert, std::string_view epoch);

}  // namespace trainwatch
