// The JSON form of an alert, the same in every output. README.md shows an example.
#pragma once

#include <string>
#include <string_view>

#include "trainwatch/alert.h"

namespace trainwatch {

// Returns one JSON object without line breaks. If `epoch` is empty, `epoch` and `seq` are left out,
// as in the output of `trainwatch replay`.
std::string to_json(const Alert& alert, std::string_view epoch);

}  // namespace trainwatch
