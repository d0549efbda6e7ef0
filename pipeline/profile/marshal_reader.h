// Reads Python's marshal format, versions 0 to 4, as pstats dumps use it: None, booleans, integers,
// floats, strings, tuples, lists and dicts, and references to what came before.
#pragma once

#include <cstddef>
#include <string>

#include "pipeline/profile/marshal_document.h"
#include "trainwatch/result.h"

namespace trainwatch {

inline constexpr std::size_t kMaxMarshalBytes = std::size_t{32} << 20U;
inline constexpr std::size_t kMaxMarshalValues = std::size_t{1} << 22U;
inline constexpr int kMaxMarshalDepth = 32;

// `bytes` must be one whole dump and nothing else; whatever else they are, the error says at which
// byte and why.
Result<MarshalDocument> read_marshal(std::string bytes);

}  // namespace trainwatch
