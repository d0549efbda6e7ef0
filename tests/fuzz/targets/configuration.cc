// SPDX-License-Identifier: Apache-2.0
// The configuration file: any text is either accepted or refused with a reason that names the file,
// and what is accepted can be printed and set again.
#include <string>
#include <string_view>

#include "daemon/config/config.h"
#include "daemon/config/config_table.h"
#include "fuzz/fuzz_target.h"
#include "rules/catalog.h"

namespace trainwatch::fuzz {

void read_configuration(std::string_view input) {
  const auto config = parse_config(std::string(input), "fuzz.yaml", rule_catalog());
  if (!config) {
    expect(config.error().message.starts_with("fuzz.yaml"), "a reason names the file");
    return;
  }
  Config again{rule_catalog()};
  for (const auto& field : settings_table()) {
    const std::string text = field.print(*config);
    if (field.list || text.empty()) continue;
    expect(field.set(again, std::span(&text, 1)).ok(), "what is printed can be set");
    expect(field.print(again) == text, "what is set is printed");
  }
  for (const RuleConfig& rule : config->enabled_rules()) {
    for (const Param& param : rule.spec->params) {
      std::any params = rule.params;
      expect(param.parse(params, param.print(rule.params)).ok(),
             "a parameter is within its bounds");
    }
  }
}

}  // namespace trainwatch::fuzz
