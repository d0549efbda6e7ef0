// SPDX-License-Identifier: Apache-2.0
// Lines that differ in digits only have their parts at the same places, if the format says so.
#include "pipeline/decode/declared/line_layout.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "declared_reading.h"
#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/declared/digits_alike.h"
#include "pipeline/decode/declared/line_pattern.h"

namespace trainwatch::testing::line_layout_test {

TEST(DigitsAlike, OnlyWhereNoDigitIsAnother) {
  for (const char* alike :
       {"", "loss", R"(\d+)", "[0-9]+", "[-0-9.e+]+", "[^0-9a-f]", R"([\d.]+\.\d)", R"(\d{3})",
        R"(a{1,3}b)", R"((?P<loss2>\d+)|x)", R"(\[epoch \d+\])", "[]0-9]", "{", "(?i)step"}) {
    EXPECT_TRUE(takes_digits_alike(alike)) << alike;
  }
  for (const char* different :
       {"1", "loss2", "[1-9]", "[0-8]", "0-9", R"(\x41)", R"(\1)", R"(\pN)", "[[:digit:]]",
        "[+-0-9]", "[a5]", "[", R"([\x30])", "{2", R"(\Q5\E)"}) {
    EXPECT_FALSE(takes_digits_alike(different)) << different;
  }
}

std::string with_random_digits(std::string line, std::mt19937& random) {
  for (char& c : line) {
    if (is_digit(c)) c = static_cast<char>('0' + random() % 10);
  }
  return line;
}

auto places(const LineLayout& layout) {
  std::vector<std::uint32_t> all;
  for (const auto& part : {layout.step, layout.time, layout.epoch, layout.epoch_steps}) {
    all.insert(all.end(), {part.begin, part.size});
  }
  for (const auto& part : layout.values) all.insert(all.end(), {part.begin, part.size});
  return all;
}

// A text of pieces that formats and loggers use, of which some may be a record.
std::string random_line(std::mt19937& random) {
  static const std::vector<std::string> kPieces = {"step: ",
                                                   "step=",
                                                   "loss: ",
                                                   "'loss': ",
                                                   "lr=",
                                                   "grad_norm: ",
                                                   "tps: ",
                                                   "iteration ",
                                                   "12",
                                                   "7",
                                                   "1,234",
                                                   "1,23",
                                                   "4.5E-07",
                                                   "1e5",
                                                   "nan",
                                                   "-inf",
                                                   "-0.5",
                                                   "+3",
                                                   ".5",
                                                   "5.",
                                                   "1.2.3",
                                                   "-",
                                                   "'",
                                                   "[2026-11-25 10:00:07] ",
                                                   " ",
                                                   "  ",
                                                   " | ",
                                                   ", ",
                                                   "/ ",
                                                   "%",
                                                   "GiB",
                                                   "ms",
                                                   "2026-11-25 10:00:07,412 - ",
                                                   "num_updates=",
                                                   "Train: 3 [  7/90 ",
                                                   "elapsed time per iteration (ms): "};
  std::string line;
  for (std::size_t i = 1 + random() % 24; i > 0; --i) line += kPieces[random() % kPieces.size()];
  return line;
}

TEST(LinePattern, DigitsDoNotMovePartsWhereTheyAreIgnored) {
  std::vector<FormatDeclaration> formats = console_presets();
  formats.push_back({.name = "own",
                     .has = {"loss"},
                     .line = R"((?P<step>\d{1,3}).*?(?P<loss>-?[0-9.]+)(?: \|)?)",
                     .fields = {{"loss", ScalarKind::loss}, {"lr", ScalarKind::learning_rate}}});
  std::mt19937 random(1);
  std::size_t records = 0;
  for (const FormatDeclaration& format : formats) {
    const LinePattern pattern(format);
    ASSERT_TRUE(pattern.ignores_digits()) << format.name;
    for (int i = 0; i < 3000; ++i) {
      const std::string line = random_line(random);
      const std::string other = with_random_digits(line, random);
      LineLayout here;
      LineLayout there;
      const bool found = pattern.find(line, here);
      ASSERT_EQ(found, pattern.find(other, there)) << line << "\n" << other;
      if (!found) continue;
      ++records;
      ASSERT_EQ(places(here), places(there)) << format.name << ": " << line << "\n" << other;
      for (std::size_t field = 0; field < format.fields.size(); ++field) {
        ASSERT_EQ(pattern.value(field, other, here).has_value(),
                  pattern.value(field, other, there).has_value());
      }
    }
  }
  EXPECT_GT(records, 1000U);
}

TEST(LinePattern, DigitsCountWhereAKeyHasOne) {
  const LinePattern pattern({.name = "top",
                             .has = {"top1"},
                             .line = R"(step (?P<step>\d+))",
                             .fields = {{"top1", ScalarKind::other}, {"top5", ScalarKind::other}}});
  EXPECT_FALSE(pattern.ignores_digits());
}

TEST(LineLayouts, KnowsTheLatestShapes) {
  LineLayouts layouts;
  const auto add = [&layouts](const std::string& line, std::uint32_t step) {
    EXPECT_EQ(layouts.find(line), nullptr) << line;
    LineLayout layout;
    layout.step = {step, 1};
    layouts.add(layout);
  };
  for (std::uint32_t i = 0; i < LineLayouts::kMost; ++i) add(std::string(i + 1, 'a') + "7", i);
  ASSERT_NE(layouts.find("a0"), nullptr);
  EXPECT_EQ(layouts.find("aaa9")->step.begin, 2U);
  EXPECT_EQ(layouts.find("aab9"), nullptr);
  add("b", 99);
  EXPECT_EQ(layouts.find("b")->step.begin, 99U);
  EXPECT_EQ(layouts.find("a0"), nullptr);
  EXPECT_NE(layouts.find("aa0"), nullptr);
  layouts.clear();
  EXPECT_EQ(layouts.find("b"), nullptr);
}

TEST(LineLayouts, ALongLineIsNotKept) {
  LineLayouts layouts;
  const std::string line(LineLayouts::kLongest + 1, 'a');
  EXPECT_EQ(layouts.find(line), nullptr);
  layouts.add({});
  EXPECT_EQ(layouts.find(line), nullptr);
}

// Whatever came before it, a line is read as if it were alone.
TEST(LineLayouts, AreNoticedBySpeedOnly) {
  std::mt19937 random(2);
  std::string all;
  Lines alone;
  for (int i = 0; i < 400; ++i) {
    const std::string line = "step: " + std::to_string(100 + random() % 900) + " loss: 1.5 " +
                             random_line(random) + " tps: 12\n";
    all += line;
    for (const std::string& scalar : scalars_of("/w/train.log", line)) {
      alone.push_back(scalar.substr(0, scalar.find('/')));
    }
  }
  Lines together;
  for (const std::string& scalar : scalars_of("/w/train.log", all)) {
    together.push_back(scalar.substr(0, scalar.find('/')));
  }
  EXPECT_EQ(together, alone);
  EXPECT_GT(alone.size(), 800U);
}

}  // namespace trainwatch::testing::line_layout_test
