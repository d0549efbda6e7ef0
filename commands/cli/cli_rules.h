// `trainwatch rules`: the catalog as text, JSON, the table of README.md (Markdown) and the rules of
// config/trainwatch.yaml. `tests/e2e/readme_test.py BINARY --update` writes the latter two.
#pragma once

#include <string>

#include "daemon/config/config.h"

namespace trainwatch {

std::string rules_as_text(RuleCatalog catalog);
std::string rules_as_json(RuleCatalog catalog);
std::string rules_as_markdown(RuleCatalog catalog);
std::string rules_as_yaml(RuleCatalog catalog);

}  // namespace trainwatch
