// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/config_text.h"

#include <gtest/gtest.h>

namespace trainwatch::config_text_test {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(Duration, ReadsUnitsAndSums) {
  EXPECT_EQ(*parse_duration("500ms"), milliseconds{500});
  EXPECT_EQ(*parse_duration("1.5s"), milliseconds{1500});
  EXPECT_EQ(*parse_duration("1h30m"), minutes{90});
  EXPECT_EQ(*parse_duration("250us"), std::chrono::microseconds{250});
  EXPECT_EQ(*parse_duration("2d"), std::chrono::hours{48});
  EXPECT_EQ(*parse_duration("0"), Nanos{0});
}

TEST(Duration, RefusesWhatIsNone) {
  for (const char* text :
       {"", "5", "s", "-1s", "1 s", "1s ", "1x", "1e3s", "nans", "infs", "300000000d"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
}

TEST(Duration, PrintsWhatItReads) {
  for (const char* text : {"0s", "250us", "500ms", "90s", "5m", "36h", "2d"}) {
    EXPECT_EQ(print_duration(*parse_duration(text)), text);
  }
}

TEST(Size, ReadsAndPrints) {
  EXPECT_EQ(*parse_size("4MiB"), std::uint64_t{4} << 20U);
  EXPECT_EQ(*parse_size("12"), 12U);
  for (const char* text : {"0", "1000", "256KiB", "4MiB", "3GiB"}) {
    EXPECT_EQ(print_size(*parse_size(text)), text);
  }
  for (const char* text : {"", "MiB", "4MB", "-4", "4 MiB", "99999999999GiB"}) {
    EXPECT_FALSE(parse_size(text)) << text;
  }
}

TEST(DidYouMean, FindsNearWordsOnly) {
  constexpr std::string_view kKnown[] = {"listen_address", "allowed_hosts"};
  EXPECT_EQ(did_you_mean("listen_adress", kKnown), " (did you mean 'listen_address'?)");
  EXPECT_EQ(did_you_mean("port", kKnown), "");
}

}  // namespace trainwatch::config_text_test
