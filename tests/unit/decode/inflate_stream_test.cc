#include <gtest/gtest.h>

#include <random>

#include "decode_harness.h"
#include "pipeline/decode/gzip_stream.h"

namespace trainwatch::testing {
namespace {

std::string numbers(std::size_t count) {
  std::string text;
  std::mt19937 random{5};
  for (std::size_t i = 0; i < count; ++i) text += std::to_string(random() % 5000) + ",";
  return text;
}

class Inflate : public ::testing::TestWithParam<std::unique_ptr<MemberInflater> (*)()> {
 protected:
  void SetUp() override {
    if (GetParam()() == nullptr) GTEST_SKIP() << "built without ISA-L";
  }
  static std::string drain(InflateStream& stream, std::string_view bytes) {
    std::string out;
    stream.push(bytes);
    for (auto piece = stream.pull(); !piece.empty(); piece = stream.pull()) out += piece;
    return out;
  }
};

TEST_P(Inflate, EveryCut) {
  const std::string text = numbers(300);
  const std::string packed = gzip(text);
  for (std::size_t cut = 0; cut <= packed.size(); ++cut) {
    InflateStream stream{GetParam()()};
    std::string out = drain(stream, std::string_view{packed}.substr(0, cut));
    EXPECT_FALSE(stream.damaged());
    if (cut < packed.size()) {
      EXPECT_FALSE(stream.at_end()) << cut;
    }
    out += drain(stream, std::string_view{packed}.substr(cut));
    ASSERT_EQ(out, text) << cut;
    ASSERT_TRUE(stream.at_end());
  }
}

TEST_P(Inflate, LargeOutputInSmallPieces) {
  const std::string text = numbers(400000);
  const std::string packed = gzip(text);
  InflateStream stream{GetParam()()};
  std::string out;
  for (std::size_t at = 0; at < packed.size(); at += 777) {
    out += drain(stream, std::string_view{packed}.substr(at, 777));
  }
  EXPECT_TRUE(out == text);
  EXPECT_TRUE(stream.at_end());
}

TEST_P(Inflate, EveryMemberAndPaddingByteByByte) {
  const std::string packed = gzip("one ") + gzip("") + std::string(5, '\0') + gzip("two") +
                             std::string(3, '\0') + "not gzip " + gzip("ignored");
  InflateStream stream{GetParam()()};
  std::string out;
  for (const char c : packed) out += drain(stream, {&c, 1});
  EXPECT_EQ(out, "one two");
  EXPECT_TRUE(stream.at_end());
  EXPECT_FALSE(stream.damaged());
}

TEST_P(Inflate, DamageKeepsWhatCameBefore) {
  const std::string text = numbers(200000);
  std::string packed = gzip(text);
  for (std::size_t i = packed.size() / 2; i < packed.size() / 2 + 64; ++i) packed[i] = '\x55';
  InflateStream stream{GetParam()()};
  const std::string out = drain(stream, packed);
  EXPECT_TRUE(stream.damaged());
  EXPECT_GT(out.size(), text.size() / 4);
  EXPECT_EQ(drain(stream, packed), "");
}

TEST_P(Inflate, WrongChecksumIsDamage) {
  std::string packed = gzip("some text");
  packed[packed.size() - 6] = static_cast<char>(packed[packed.size() - 6] ^ 1);
  InflateStream stream{GetParam()()};
  EXPECT_EQ(drain(stream, packed), "some text");
  EXPECT_TRUE(stream.damaged());
}

TEST_P(Inflate, GoesOnFromSavedState) {
  const std::string text = numbers(60000);
  const std::string packed = gzip(text) + gzip("tail");
  for (std::size_t cut = 0; cut <= packed.size(); cut += packed.size() / 37) {
    InflateStream first{GetParam()()};
    std::string out = drain(first, std::string_view{packed}.substr(0, cut));
    StateIo saving = StateIo::saving();
    first.state(saving);
    const std::string saved = saving.take();
    InflateStream second{GetParam()()};
    StateIo loading = StateIo::loading(saved);
    second.state(loading);
    ASSERT_TRUE(loading.complete());
    out += drain(second, std::string_view{packed}.substr(cut));
    ASSERT_TRUE(out == text + "tail") << cut;
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, Inflate,
                         ::testing::Values(&make_zlib_inflater, &make_isal_inflater));

}  // namespace
}  // namespace trainwatch::testing
