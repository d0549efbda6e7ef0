// SPDX-License-Identifier: Apache-2.0
// What the catalog promises to users: texts, bounds that hold for the defaults, and a page of
// documentation for each rule whose parameter table is the rule's.
#include "rules/catalog.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "support/source_path.h"

namespace trainwatch {
namespace {

std::string page_of(const RuleSpec& spec) {
  std::ifstream file(source_path("docs/rules/" + std::string(spec.id) + ".md"));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Text inside a cell of a Markdown table.
std::string cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string row_of(const RuleSpec& spec, const Param& param) {
  const std::string standard = param.kind == Param::Kind::text
                                   ? "`" + cell(param.print_yaml(spec.defaults)) + "`"
                                   : param.print(spec.defaults);
  return "| `" + std::string(param.name) + "` | " + standard + " | " + param.bounds() + " | " +
         std::string(param.help) + " |";
}

TEST(Catalog, EachRuleSaysWhatItIs) {
  std::set<std::string_view> ids;
  for (const RuleSpec* spec : rule_catalog()) {
    SCOPED_TRACE(spec->id);
    EXPECT_TRUE(ids.insert(spec->id).second);
    EXPECT_EQ(find_rule(spec->id), spec);
    EXPECT_FALSE(spec->summary.empty());
    EXPECT_FALSE(spec->doc.empty());
  }
  EXPECT_EQ(find_rule("no_such_rule"), nullptr);
}

TEST(Catalog, DefaultsAreWithinBoundsAndReadBack) {
  for (const RuleSpec* spec : rule_catalog()) {
    RuleConfig config(*spec);
    for (const Param& param : spec->params) {
      SCOPED_TRACE(std::string(spec->id) + "." + std::string(param.name));
      const std::string text = param.print(spec->defaults);
      EXPECT_TRUE(config.set(param.name, text).ok());
      EXPECT_EQ(param.print(config.params), text);
      if (param.kind == Param::Kind::text) {
        EXPECT_FALSE(config.set(param.name, std::string(1025, 'a')).ok());
        EXPECT_FALSE(config.set(param.name, "a\nb").ok());
        continue;
      }
      EXPECT_FALSE(config.set(param.name, detail::number_text(param.max * 2 + 1)).ok());
      EXPECT_FALSE(config.set(param.name, "nan").ok());
      const auto expect_another = [&](std::optional<double> preset, const std::string& than) {
        if (!preset) return;
        EXPECT_TRUE(config.set(param.name, detail::number_text(*preset)).ok());
        EXPECT_NE(detail::number_text(*preset), than) << "needs no preset";
      };
      const auto code = param.preset_default(RulePreset::sagemaker_code);
      expect_another(code, text);
      expect_another(param.sagemaker.docs, code ? detail::number_text(*code) : text);
    }
  }
}

TEST(Catalog, EachRuleHasAPageWithItsParameters) {
  for (const RuleSpec* spec : rule_catalog()) {
    const std::string page = page_of(*spec);
    ASSERT_FALSE(page.empty()) << "docs/rules/" << spec->id << ".md is missing";
    for (const Param& param : spec->params) {
      EXPECT_NE(page.find(row_of(*spec, param)), std::string::npos)
          << "docs/rules/" << spec->id << ".md lacks the line\n"
          << row_of(*spec, param);
    }
  }
}

}  // namespace
}  // namespace trainwatch
