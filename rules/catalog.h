// SPDX-License-Identifier: Apache-2.0
// The list of all rules. Listing is deliberate: a linker drops self-registering objects of a static
// library that nobody names, and a visible list is a table of contents.
#pragma once

#include <string_view>
#include <vector>

#include "trainwatch/rule.h"

namespace trainwatch {

const std::vector<const RuleSpec*>& rule_catalog();

// Null if no rule has this id.
const RuleSpec* find_rule(std::string_view id);

}  // namespace trainwatch
