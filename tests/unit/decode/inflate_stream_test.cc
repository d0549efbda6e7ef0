// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "decode_harness.h"
#include "pipeline/decode/gzip_stream.h"

namespace trainwatch::testing::inflate_stream_test {

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
  // One that goes on from the stored state of `stream`.
  static InflateStream restarted(InflateStream stream) {
    StateIo saving = StateIo::saving();
    stream.state(saving);
    const std::string saved = saving.take();
    InflateStream loaded{GetParam()};
    StateIo loading = StateIo::loading(saved);
    loaded.state(loading);
    EXPECT_TRUE(loading.complete());
    return loaded;
  }
};

TEST_P(Inflate, EveryCut) {
  const std::string text = numbers(300);
  const std::string packed = gzip(text);
  for (std::size_t cut = 0; cut <= packed.size(); ++cut) {
    InflateStream stream{GetParam()};
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

// What other calls leave on the stack between two pieces of a file.
[[gnu::noinline]] void dirty_stack(int value) {
  std::array<volatile char, 16384> stack{};
  for (volatile char& byte : stack) byte = static_cast<char>(value);
}

// ISA-L 2.30 keeps the flags of a header on the stack of isal_inflate(): what another call left
// there decided whether the rest of a header that a piece had cut was read as names or as data.
TEST_P(Inflate, AHeaderWithEveryFieldInPieces) {
  const std::string text = numbers(300);
  const std::string packed = gzip(text);
  for (const int flags : {0x00, 0x08, 0x10, 0x18, 0x04, 0x1c}) {
    std::string file = packed.substr(0, 10);
    file[3] = static_cast<char>(flags);
    if ((flags & 0x04) != 0) file += std::string("\x05\0extra", 7);
    if ((flags & 0x08) != 0) file += std::string("a name of a file.json\0", 22);
    if ((flags & 0x10) != 0) file += std::string("a comment\0", 10);
    file += packed.substr(10);
    for (const int left : {0x00, 0x08, 0x1c, 0xff}) {
      for (std::size_t size = 1; size < 60; ++size) {
        InflateStream stream{GetParam()};
        std::string out;
        for (std::size_t at = 0; at < file.size(); at += size) {
          dirty_stack(left);
          out += drain(stream, std::string_view{file}.substr(at, size));
          if (at < 120) stream = restarted(std::move(stream));
        }
        ASSERT_EQ(out, text) << flags << ' ' << left << ' ' << size;
        ASSERT_TRUE(stream.at_end());
      }
    }
  }
}

// RFC 1952, 2.3.1.2: a reader must give an error, because a field may follow that it does not know.
TEST_P(Inflate, AReservedFlagIsDamage) {
  for (const int flag : {0x20, 0x40, 0x80}) {
    std::string packed = gzip("some text");
    packed[3] = static_cast<char>(flag);
    for (const std::size_t size : {std::size_t{1}, packed.size()}) {
      InflateStream stream{GetParam()};
      std::string out;
      for (std::size_t at = 0; at < packed.size(); at += size) {
        out += drain(stream, std::string_view{packed}.substr(at, size));
        if (!stream.damaged()) stream = restarted(std::move(stream));
      }
      EXPECT_EQ(out, "") << flag;
      EXPECT_TRUE(stream.damaged()) << flag;
    }
  }
}

TEST_P(Inflate, LargeOutputInSmallPieces) {
  const std::string text = numbers(400000);
  const std::string packed = gzip(text);
  InflateStream stream{GetParam()};
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
  InflateStream stream{GetParam()};
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
  InflateStream stream{GetParam()};
  const std::string out = drain(stream, packed);
  EXPECT_TRUE(stream.damaged());
  EXPECT_GT(out.size(), text.size() / 4);
  EXPECT_EQ(drain(stream, packed), "");
}

// Fields of a deflate block, from the lowest bit of each byte on (RFC 1951, 3.1.1).
class Bits {
 public:
  void number(unsigned value, int bits) {
    for (int bit = 0; bit < bits; ++bit) add((value >> static_cast<unsigned>(bit)) & 1U);
  }
  // Huffman codes begin with their highest bit.
  void code(unsigned value, int bits) {
    for (int bit = bits - 1; bit >= 0; --bit) add((value >> static_cast<unsigned>(bit)) & 1U);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  void add(unsigned bit) {
    if (used_ % 8 == 0) bytes_.push_back('\0');
    bytes_.back() = static_cast<char>(static_cast<unsigned char>(bytes_.back()) | bit << used_ % 8);
    ++used_;
  }
  std::string bytes_;
  unsigned used_ = 0;
};

// ISA-L 2.30 counts the 258 bytes of such a match as output without writing them. What the buffer
// contained, records of the same file, passed for contents.
TEST_P(Inflate, AMatchFromBeforeTheFirstByteIsDamage) {
  Bits block;
  block.number(1, 1);  // the last block
  block.number(1, 2);  // with fixed codes
  for (int i = 0; i < 40; ++i) block.code(0x30 + 'a', 8);
  block.code(0xc5, 8);  // length 258
  block.code(29, 5);    // distance 24,577 and more
  block.number(0, 13);
  std::string file("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
  file += block.bytes() + std::string(100, 'x');
  for (const std::size_t size : {file.size(), std::size_t{64}, std::size_t{7}, std::size_t{1}}) {
    InflateStream stream{GetParam()};
    std::string out;
    for (std::size_t at = 0; at < file.size(); at += size)
      out += drain(stream, file.substr(at, size));
    EXPECT_EQ(out, std::string(40, 'a')) << size;
    EXPECT_TRUE(stream.damaged());
  }
}

TEST_P(Inflate, WrongChecksumIsDamage) {
  std::string packed = gzip("some text");
  packed[packed.size() - 6] = static_cast<char>(packed[packed.size() - 6] ^ 1);
  InflateStream stream{GetParam()};
  EXPECT_EQ(drain(stream, packed), "some text");
  EXPECT_TRUE(stream.damaged());
}

TEST_P(Inflate, GoesOnFromSavedState) {
  const std::string text = numbers(60000);
  const std::string packed = gzip(text) + gzip("tail");
  for (std::size_t cut = 0; cut <= packed.size(); cut += packed.size() / 37) {
    InflateStream first{GetParam()};
    std::string out = drain(first, std::string_view{packed}.substr(0, cut));
    InflateStream second = restarted(std::move(first));
    out += drain(second, std::string_view{packed}.substr(cut));
    ASSERT_TRUE(out == text + "tail") << cut;
  }
}

// What a whole file needs in memory and in the stored state: thousands may be open.
TEST_P(Inflate, NothingIsKeptBehindTheLastMember) {
  InflateStream stream{GetParam()};
  drain(stream, gzip(numbers(1000)));
  ASSERT_TRUE(stream.at_end());
  StateIo saving = StateIo::saving();
  stream.state(saving);
  EXPECT_LT(saving.take().size(), 64U);
  EXPECT_EQ(drain(stream, gzip("another member")), "another member");
  EXPECT_EQ(drain(stream, "\x1f"), "");
  stream = restarted(std::move(stream));
  EXPECT_EQ(drain(stream, gzip("and one more").substr(1)), "and one more");
}

INSTANTIATE_TEST_SUITE_P(Backends, Inflate,
                         ::testing::Values(&make_zlib_inflater, &make_isal_inflater));

}  // namespace trainwatch::testing::inflate_stream_test
