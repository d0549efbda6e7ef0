// SPDX-License-Identifier: Apache-2.0
// The last resort for objects and rows that no declaration knows: which member counts steps, which
// one is the time, and whether the others are worth reading, by their names alone. What comes of it
// is a declaration like any other; it says `guessed`.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "pipeline/decode/declared/declaration.h"

namespace trainwatch {

// `names` of the members of a record, or of the columns. nullopt: none of them counts steps or
// epochs, or beside it nothing is known to be of a training.
std::optional<FormatDeclaration> guess_format(DeclaredKind kind,
                                              std::span<const std::string_view> names);
// That declaration, by what it chose.
FormatDeclaration guessed_format(DeclaredKind kind, std::string step, std::string time);

}  // namespace trainwatch
