// SPDX-License-Identifier: Apache-2.0
// Version, revision and compiler.
#pragma once

#include <string>
#include <string_view>

namespace trainwatch {

std::string_view version();           // of the project, in CMakeLists.txt
std::string_view version_revision();  // short commit id; "unknown" when built outside git
std::string version_compiler();       // "g++ 12.2.0"
std::string version_text();           // what `trainwatch version` prints, several lines

}  // namespace trainwatch
