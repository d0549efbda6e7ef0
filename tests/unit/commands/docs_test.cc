// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "commands/commands.h"

namespace trainwatch::docs_test {

using testing::HasSubstr;
using testing::StartsWith;

struct DocsTest : testing::Test {
  int call(const std::string& name) {
    out.str("");
    err.str("");
    return docs({name}, out, err);
  }
  std::ostringstream out;
  std::ostringstream err;
};

TEST_F(DocsTest, ListsNamesWithTitles) {
  EXPECT_EQ(call(""), 0);
  const std::string list = out.str();
  EXPECT_THAT(list, HasSubstr("\nprometheus  "));
  EXPECT_THAT(list, HasSubstr("\nrules/stall  "));
  EXPECT_THAT(list, HasSubstr(" stall: training stands still\n"));
  EXPECT_THAT(list, HasSubstr("\napi/openapi.yaml  "));
  std::istringstream lines(list);
  for (std::string name, title; lines >> name;) {
    std::getline(lines >> std::ws, title);
    EXPECT_NE(title, "") << name;
    EXPECT_EQ(call(name), 0) << name;
  }
}

TEST_F(DocsTest, PrintsAPage) {
  EXPECT_EQ(call("web-config"), 0);
  EXPECT_THAT(out.str(), StartsWith("# TLS and login\n"));
  EXPECT_EQ(err.str(), "");
  for (const char* name : {"stall", "rules/stall", "rules/stall.md"}) {
    EXPECT_EQ(call(name), 0) << name;
    EXPECT_THAT(out.str(), StartsWith("# stall: ")) << name;
  }
}

TEST_F(DocsTest, SaysWhatWasMeant) {
  EXPECT_EQ(call("promethus"), 2);
  EXPECT_THAT(err.str(), StartsWith("no document 'promethus' (did you mean 'prometheus'?)\n"));
  EXPECT_EQ(call("step_spkie"), 2);
  EXPECT_THAT(err.str(), HasSubstr("'step_spike'"));
  for (const char* name : {"/", "../README", "index.html", "/docs/stall"}) {
    EXPECT_EQ(call(name), 2) << name;
  }
  EXPECT_EQ(out.str(), "");
}

}  // namespace trainwatch::docs_test
