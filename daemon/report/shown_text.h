// Text from files, made fit to be shown: whatever bytes it has and however long it is.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace trainwatch {

// UTF-8; each byte that is no part of it becomes U+FFFD.
std::string repaired_utf8(std::string_view text);

// The beginning and the end of longer text, with an ellipsis between; at most `limit` characters of
// UTF-8, and never a part of one.
std::string shortened(std::string_view text, std::size_t limit);

}  // namespace trainwatch
