// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "pipeline/decode/json_cursor.h"

namespace trainwatch::json_validator_test {

TEST(JsonValidator, AcceptsObjectsToTheLetter) {
  JsonValidator check;
  for (const char* text : {"{}", "{\"a\": [1, -2.5e3, true, null, {\"b\": \"\\u00e4\\n\"}]}",
                           " {\"id\":18446744073709551615}\n"})
    EXPECT_TRUE(check.is_object(text)) << text;
  EXPECT_TRUE(check.is_object("{\"name\": \"sp\xC3\xA4t\"}"));
  EXPECT_TRUE(check.is_object("{\"long\": \"" + std::string(1'000'000, 'x') + "\"}"));
}

TEST(JsonValidator, RefusesWhatWritersAreKnownToGetWrong) {
  JsonValidator check;
  for (const char* text :
       {"", "[]", "1", "{", "{}{}", "{\"a\": N/A}", "{\"a\": inf}", "{\"a\": NaN}", "{\"a\": }",
        "{\"a\": 1,}", "{\"a\": \"b\"c\"}", "{\"a\": \"\n\"}", "{\"a\": \"C:\\windows\"}",
        "{\"a\": \"\xFF\"}", "{a: 1}"})
    EXPECT_FALSE(check.is_object(text)) << text;
  EXPECT_TRUE(check.is_object("{}"));
}

}  // namespace trainwatch::json_validator_test
