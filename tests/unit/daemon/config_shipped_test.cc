// SPDX-License-Identifier: Apache-2.0
// config/trainwatch.yaml, the file that users copy: it loads, it changes nothing, and it names
// every key there is with its true default.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iomanip>
#include <sstream>

#include "daemon/config/config.h"
#include "daemon/config/config_table.h"
#include "rules/catalog.h"
#include "support/source_path.h"

namespace trainwatch::config_shipped_test {

const std::string kPath = source_path("config/trainwatch.yaml");

std::string shipped_text() {
  std::ostringstream text;
  text << std::ifstream(kPath).rdbuf();
  return text.str();
}

// The line that begins with the part of a key behind its section, commented or not; empty when
// there is none.
std::string line_of(const std::string& text, std::string_view key) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = line.find_first_not_of(" #-");
    if (begin == std::string::npos) continue;
    if (line.compare(begin, key.size() + 1, std::string(key) + ":") == 0) return line;
  }
  return {};
}

bool names_key(const std::string& text, std::string_view key) {
  return !line_of(text, key).empty();
}

// "(0..1000000)", as the file writes numbers.
std::string bounds_of(const Param& param) {
  if (param.kind != Param::Kind::number) return "(" + param.bounds() + ")";
  std::ostringstream text;
  text << std::setprecision(15) << "(" << param.min << ".." << param.max << ")";
  return text.str();
}

TEST(ShippedConfig, IsTheDefaults) {
  const auto shipped = load_config_file(kPath, rule_catalog());
  ASSERT_TRUE(shipped) << shipped.error().message;
  const Config defaults(rule_catalog());
  for (const auto& field : settings_table()) {
    EXPECT_EQ(field.print(*shipped), field.print(defaults)) << field.key;
  }
  EXPECT_TRUE(shipped->watch.empty());
  ASSERT_EQ(shipped->rules.size(), defaults.rules.size());
  for (std::size_t i = 0; i < defaults.rules.size(); ++i) {
    const RuleConfig& rule = shipped->rules[i].config;
    for (const Param& param : rule.spec->params) {
      EXPECT_EQ(param.print(rule.params), param.print(rule.spec->defaults))
          << rule.spec->id << "." << param.name;
    }
  }
}

TEST(ShippedConfig, NamesEveryKey) {
  const std::string text = shipped_text();
  for (const auto& field : settings_table()) {
    EXPECT_TRUE(names_key(text, field.key.substr(field.key.find('.') + 1))) << field.key;
  }
  for (const auto& field : watch_table()) EXPECT_TRUE(names_key(text, field.key)) << field.key;
  for (const auto& field : rule_table()) EXPECT_TRUE(names_key(text, field.key)) << field.key;
}

TEST(ShippedConfig, NamesEveryRuleWithItsParameters) {
  const std::string text = shipped_text();
  for (const RuleSpec* rule : rule_catalog()) {
    const std::size_t begin = text.find("\n  " + std::string(rule->id) + ":\n");
    ASSERT_NE(begin, std::string::npos) << rule->id;
    const std::size_t end = std::min(text.find("\n\n", begin + 1), text.size());
    const std::string block = text.substr(begin, end - begin);
    for (const Param& param : rule->params) {
      const std::string line = line_of(block, param.name);
      EXPECT_FALSE(line.empty()) << rule->id << "." << param.name;
      EXPECT_NE(line.find(bounds_of(param)), std::string::npos) << line;
    }
  }
}

}  // namespace trainwatch::config_shipped_test
