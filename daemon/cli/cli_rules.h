// `trainwatch rules`: the catalog as text, JSON or a Markdown table. The README's table is this
// Markdown, and a test compares them.
#pragma once

#include <string>

#include "daemon/config/config.h"

namespace trainwatch {

std::string rules_as_text(RuleCatalog catalog);
std::string rules_as_json(RuleCatalog catalog);
std::string rules_as_markdown(RuleCatalog catalog);

}  // namespace trainwatch
