// SPDX-License-Identifier: Apache-2.0
// Figures as a person reads them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "commands/report/format.h"

namespace trainwatch::report_figures_test {

using testing::ElementsAre;

TEST(Figures, Counts) {
  EXPECT_EQ(report_format::count(0), "0");
  EXPECT_EQ(report_format::count(999), "999");
  EXPECT_EQ(report_format::count(1000), "1,000");
  EXPECT_EQ(report_format::count(1234567), "1,234,567");
  EXPECT_EQ(report_format::count(-1234), "-1,234");
  EXPECT_EQ(report_format::count(-123), "-123");
}

TEST(Figures, ThreeDigits) {
  EXPECT_EQ(report_format::figure(0.21234), "0.212");
  EXPECT_EQ(report_format::figure(1.005), "1.00");
  EXPECT_EQ(report_format::figure(15.14), "15.1");
  EXPECT_EQ(report_format::figure(99.96), "100");
  EXPECT_EQ(report_format::figure(12345.6), "12,346");
  EXPECT_EQ(report_format::figure(39), "39");
  EXPECT_EQ(report_format::figure(-0.5), "-0.5");
}

TEST(Figures, Durations) {
  EXPECT_EQ(report_format::duration(0), "0 s");
  EXPECT_EQ(report_format::duration(212), "212 \xC2\xB5s");
  EXPECT_EQ(report_format::duration(999.6), "1.00 ms");
  EXPECT_EQ(report_format::duration(15140), "15.1 ms");
  EXPECT_EQ(report_format::duration(999600), "1.00 s");
  EXPECT_EQ(report_format::duration(59.96e6), "1 min 00 s");
  EXPECT_EQ(report_format::duration(725e6), "12 min 05 s");
  EXPECT_EQ(report_format::duration(3599.6e6), "1 h 00 min");
  EXPECT_EQ(report_format::duration(11520e6), "3 h 12 min");
}

TEST(Figures, BytesPercentAndTimes) {
  EXPECT_EQ(report_format::bytes(1023), "1,023 B");
  EXPECT_EQ(report_format::bytes(1536), "1.50 KiB");
  EXPECT_EQ(report_format::bytes(1048570), "1.00 MiB");
  EXPECT_EQ(report_format::percent(70.24), "70.2 %");
  EXPECT_EQ(report_format::moment(1700000000123456), "2023-11-14 22:13:20.123");
  EXPECT_EQ(report_format::exact(1700000000123456), "1700000000123456");
  EXPECT_EQ(report_format::exact(0.1), "0.1");
}

TEST(Figures, WhatIsNoNumberIsADash) {
  for (const double number : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    for (auto* print : {report_format::count, report_format::figure, report_format::percent,
                        report_format::duration, report_format::bytes, report_format::moment}) {
      EXPECT_EQ(print(number), "\xE2\x80\x93");
    }
  }
}

}  // namespace trainwatch::report_figures_test
