// SPDX-License-Identifier: Apache-2.0
// Parameters of rules that are texts or true and false: what is refused, and how they are printed.
#include <gtest/gtest.h>

#include <string>

#include "trainwatch/rule.h"

namespace trainwatch::rule_param_test {

struct Params {
  std::string name = "a";
  bool only = false;
};

Status check_no_q(std::string_view text) {
  if (text.find('q') == std::string_view::npos) return success();
  return Error{"has a q"};
}

const Param kName = text_field("name", &Params::name, "A name.", check_no_q);
const Param kOnly = bool_field("only", &Params::only, "Whether.");

std::string error(const Param& param, std::string_view text) {
  std::any params = Params{};
  const Status status = param.parse(params, text);
  return status.ok() ? "" : status.error().message;
}

TEST(RuleParam, ATextIsCheckedWhenItIsSet) {
  EXPECT_EQ(error(kName, "loss.*,acc"), "");
  EXPECT_EQ(error(kName, ""), "");
  EXPECT_EQ(error(kName, "q"), "name: has a q");
  EXPECT_EQ(error(kName, std::string(1025, 'a')), "name: longer than 1024 bytes");
  EXPECT_EQ(error(kName, "a\nb"), "name: is not printable text in UTF-8");
  EXPECT_EQ(error(kName, "\xFF"), "name: is not printable text in UTF-8");
}

TEST(RuleParam, WhatIsRefusedChangesNothing) {
  std::any params = Params{};
  EXPECT_FALSE(kName.parse(params, "q").ok());
  EXPECT_FALSE(kOnly.parse(params, "maybe").ok());
  EXPECT_EQ(kName.print(params), "a");
  EXPECT_EQ(kOnly.print(params), "false");
}

TEST(RuleParam, ABooleanIsTrueOrFalse) {
  std::any params = Params{};
  EXPECT_TRUE(kOnly.parse(params, "True").ok());
  EXPECT_EQ(kOnly.print(params), "true");
  EXPECT_EQ(error(kOnly, "1"), "only: '1' is not true or false");
}

TEST(RuleParam, JsonAndYamlQuoteTexts) {
  std::any params = Params{};
  ASSERT_TRUE(kName.parse(params, R"(it's "\d")").ok());
  EXPECT_EQ(kName.print_json(params), R"("it's \"\\d\"")");
  EXPECT_EQ(kName.print_yaml(params), R"('it''s "\d"')");
  EXPECT_EQ(kOnly.print_json(params), "false");
  EXPECT_EQ(kOnly.print_yaml(params), "false");
  EXPECT_EQ(kName.bounds(), "text");
  EXPECT_EQ(kOnly.bounds(), "true or false");
}

}  // namespace trainwatch::rule_param_test
