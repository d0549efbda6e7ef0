// SPDX-License-Identifier: Apache-2.0
// Where the sources are, for tests that read files of the repository. Compiled once, so that no
// other object file depends on the folder of the checkout.
#pragma once

#include <string>
#include <string_view>

namespace trainwatch {

// The absolute path of `path`, which is relative to the root of the repository.
std::string source_path(std::string_view path);

}  // namespace trainwatch
