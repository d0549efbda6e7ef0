// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/decoder_contexts.h"

#include <gtest/gtest.h>

#include <string>

namespace trainwatch::decoder_contexts_test {

TEST(DecoderContextsTest, IsBounded) {
  DecoderContexts contexts({.of_file = 10000, .all = 20000});
  contexts.keep(FileId{1}, std::string(10001, 'x'));
  EXPECT_EQ(contexts.of(FileId{1}), "");
  contexts.keep(FileId{1}, std::string(9000, 'x'));
  contexts.keep(FileId{2}, std::string(9000, 'x'));
  EXPECT_EQ(contexts.bytes(), 9000U) << "half of the room is for small ones";
  contexts.keep(FileId{3}, std::string(4000, 'x'));
  contexts.keep(FileId{4}, std::string(4000, 'x'));
  contexts.keep(FileId{5}, std::string(4000, 'x'));
  EXPECT_EQ(contexts.bytes(), 17000U);
  contexts.keep(FileId{1}, "y");
  EXPECT_EQ(contexts.of(FileId{1}), "y");
  contexts.drop(FileId{3});
  contexts.drop(FileId{3});
  EXPECT_EQ(contexts.bytes(), 4001U);
}

}  // namespace trainwatch::decoder_contexts_test
