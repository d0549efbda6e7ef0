#include "trainwatch/time.h"

#include <gtest/gtest.h>

namespace trainwatch::time_test {

TEST(Rfc3339, IsReadAsItIsPrinted) {
  for (const std::int64_t ns : {std::int64_t{0}, std::int64_t{1'795'525'325'123'456'000}}) {
    EXPECT_EQ(time_from_rfc3339(to_rfc3339(time_from_ns(ns))), time_from_ns(ns));
  }
  EXPECT_EQ(time_from_rfc3339("2026-11-24T13:02:05Z"), time_from_ns(1'795'525'325'000'000'000));
  EXPECT_EQ(time_from_rfc3339("2026-11-24T13:02:05.5Z"), time_from_ns(1'795'525'325'500'000'000));
  EXPECT_EQ(time_from_rfc3339("2026-11-24T13:02:05.123456789Z"),
            time_from_ns(1'795'525'325'123'456'789));
}

TEST(Rfc3339, AnythingElseIsNoTime) {
  for (const char* const text :
       {"", "Z", "2026-11-24T13:02:05", "2026-11-24 13:02:05Z", "2026-13-24T13:02:05Z",
        "2026-02-30T13:02:05Z", "2026-11-24T24:02:05Z", "2026-11-24T13:02:05.x5Z",
        "2026-11-24T13:02:05+01:00", "x026-11-24T13:02:05Z", "9999-11-24T13:02:05Z"}) {
    EXPECT_EQ(time_from_rfc3339(text), kNoTime) << text;
  }
}

}  // namespace trainwatch::time_test
