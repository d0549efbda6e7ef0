// SPDX-License-Identifier: Apache-2.0
#include "daemon/net/tensor_query.h"

#include <gtest/gtest.h>

namespace trainwatch::tensor_query_test {

TEST(TensorQueryTest, ReadsItsParameters) {
  const auto list = parse_tensor_query(
      "/api/v1/tensors", "trial=a%2Fb&root=jobs&mode=EVAL&step=3&collection=losses&regex=%5El");
  ASSERT_TRUE(list) << list.error().message;
  EXPECT_FALSE(list->value);
  EXPECT_EQ(list->trial, "a/b");
  EXPECT_EQ(list->root, "jobs");
  EXPECT_EQ(list->mode, TensorMode::eval);
  EXPECT_EQ(list->step, 3);
  EXPECT_EQ(list->collection, "losses");
  EXPECT_EQ(list->regex, "^l");
  const auto value = parse_tensor_query("/api/v1/tensors/value",
                                        "name=w:0&step=0&worker=worker_1&slice=0,:&format=png");
  ASSERT_TRUE(value) << value.error().message;
  EXPECT_TRUE(value->value);
  EXPECT_EQ(value->name, "w:0");
  EXPECT_EQ(value->worker, "worker_1");
  EXPECT_EQ(value->slice, "0,:");
  EXPECT_EQ(value->format, TensorQuery::Format::png);
  EXPECT_EQ(
      parse_tensor_query("/api/v1/tensors/value", "name=w&step=1&reduction=abs_l2")->reduction,
      "abs_l2");
}

TEST(TensorQueryTest, RefusesWhatItDoesNotKnow) {
  for (const char* query : {"mode=train", "step=-1", "step=x", "step=99999999999999999999",
                            "step=9223372036854775808", "name=w", "format=json", "x=1", "%zz"})
    EXPECT_FALSE(parse_tensor_query("/api/v1/tensors", query)) << query;
  for (const char* query :
       {"", "name=w", "step=1", "name=&step=1", "name=w&step=1&format=csv",
        "name=w&step=1&reduction=median", "name=w&step=1&regex=w",
        "name=w&step=1&reduction=min&slice=0", "name=w&step=1&reduction=min&format=npy"})
    EXPECT_FALSE(parse_tensor_query("/api/v1/tensors/value", query)) << query;
}

}  // namespace trainwatch::tensor_query_test
