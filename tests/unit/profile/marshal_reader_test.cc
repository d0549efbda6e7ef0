// SPDX-License-Identifier: Apache-2.0
#include "pipeline/profile/marshal_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "unit/profile/profile_samples.h"

namespace trainwatch::marshal_reader_test {

using test::bytes;
using ::testing::HasSubstr;

std::string error_of(const std::string& dump) {
  const auto document = read_marshal(dump);
  return document ? "read" : document.error().message;
}

std::int64_t integer_in(const std::string& dump) {
  const auto document = read_marshal(dump);
  EXPECT_TRUE(document && document->root().is_integer());
  return document && document->root().is_integer() ? document->root().integer() : -777;
}

double real_in(const std::string& dump) {
  const auto document = read_marshal(dump);
  EXPECT_TRUE(document && document->root().is_real());
  return document && document->root().is_real() ? document->root().real() : -777;
}

std::string text_in(const std::string& dump) {
  const auto document = read_marshal(dump);
  EXPECT_TRUE(document && document->root().is_text());
  return document && document->root().is_text() ? std::string{document->root().text()} : "no text";
}

// As Python's marshal.dumps writes them.
TEST(MarshalReader, Integers) {
  EXPECT_EQ(integer_in(bytes("i\x07\x00\x00\x00")), 7);
  EXPECT_EQ(integer_in(bytes("i\xFE\xFF\xFF\xFF")), -2);
  EXPECT_EQ(integer_in(bytes("\xE9\x07\x00\x00\x00")), 7);  // flagged
  EXPECT_EQ(integer_in(bytes("I\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF")), -2);
  EXPECT_EQ(integer_in(bytes("l\x03\x00\x00\x00\x00\x00\x00\x00\x04\x00")), std::int64_t{1} << 32);
  EXPECT_EQ(integer_in(bytes("l\xFD\xFF\xFF\xFF\x00\x00\x00\x00\x04\x00")),
            -(std::int64_t{1} << 32));
  EXPECT_EQ(integer_in(bytes("l\x00\x00\x00\x00")), 0);
  EXPECT_EQ(integer_in(bytes("l\x05\x00\x00\x00\xff\x7f\xff\x7f\xff\x7f\xff\x7f\x07\x00")),
            std::numeric_limits<std::int64_t>::max());
}

TEST(MarshalReader, Floats) {
  EXPECT_EQ(real_in(bytes("g\x00\x00\x00\x00\x00\x00\xF8\x3F")), 1.5);
  EXPECT_EQ(real_in(bytes("f\x03"
                          "1.5")),
            1.5);
  EXPECT_EQ(real_in(bytes("f\x17"
                          "9.9000000000000000e-005")),
            9.9e-05);
}

TEST(MarshalReader, Strings) {
  EXPECT_EQ(text_in(bytes("s\x02\x00\x00\x00no")), "no");
  EXPECT_EQ(text_in(bytes("t\x02\x00\x00\x00no")), "no");
  EXPECT_EQ(text_in(bytes("u\x04\x00\x00\x00gr\xC3\xB6")), "grö");
  EXPECT_EQ(text_in(bytes("a\x02\x00\x00\x00no")), "no");
  EXPECT_EQ(text_in(bytes("A\x02\x00\x00\x00no")), "no");
  EXPECT_EQ(text_in(bytes("z\x02no")), "no");
  EXPECT_EQ(text_in(bytes("\xDA\x02no")), "no");
  EXPECT_EQ(text_in(bytes("z\x00")), "");
}

TEST(MarshalReader, Containers) {
  const auto tuple = read_marshal(bytes("(\x03\x00\x00\x00NTz\x01x"));
  ASSERT_TRUE(tuple);
  ASSERT_TRUE(tuple->root().is_sequence());
  EXPECT_EQ(tuple->root().size(), 3);
  EXPECT_FALSE(tuple->root().item(0).is_text());
  EXPECT_EQ(tuple->root().item(2).text(), "x");

  const auto dict =
      read_marshal(bytes("{z\x01"
                         "a)\x01z\x01"
                         "bz\x01"
                         "c[\x00\x00\x00\x00"
                         "0"));
  ASSERT_TRUE(dict);
  ASSERT_TRUE(dict->root().is_dict());
  EXPECT_EQ(dict->root().size(), 2);
  EXPECT_EQ(dict->root().key(0).text(), "a");
  EXPECT_EQ(dict->root().value(0).item(0).text(), "b");
  EXPECT_EQ(dict->root().key(1).text(), "c");
  EXPECT_EQ(dict->root().value(1).size(), 0);
}

// The tuple is object 0 and what it holds is 1, as Python numbers them.
TEST(MarshalReader, ReferencesToWhatWasFlagged) {
  const auto document = read_marshal(bytes("\xA9\x03\xDA\x01xr\x01\x00\x00\x00z\x01y"));
  ASSERT_TRUE(document);
  EXPECT_EQ(document->root().item(0).text(), "x");
  EXPECT_EQ(document->root().item(1).text(), "x");
  EXPECT_EQ(document->root().item(2).text(), "y");
}

TEST(MarshalReader, FlaggedSingletonsHaveNoNumber) {
  const auto document = read_marshal(bytes(")\x03\xCE\xDA\x01xr\x00\x00\x00\x00"));
  ASSERT_TRUE(document);
  EXPECT_EQ(document->root().item(2).text(), "x");
}

TEST(MarshalReader, InternedStringsOfPython2) {
  const auto document =
      read_marshal(bytes("(\x03\x00\x00\x00t\x01\x00\x00\x00xs\x01\x00\x00\x00y"
                         "R\x00\x00\x00\x00"));
  ASSERT_TRUE(document);
  EXPECT_EQ(document->root().item(2).text(), "x");
}

TEST(MarshalReader, SaysWhatIsWrong) {
  EXPECT_EQ(error_of(""), "byte 0: the dump ends inside a value");
  EXPECT_THAT(error_of("c"), HasSubstr("byte 1: a value that profiles do not hold"));
  EXPECT_THAT(error_of("0"), HasSubstr("do not hold"));
  EXPECT_THAT(error_of(")\x01"
                       "0"),
              HasSubstr("do not hold"));
  EXPECT_THAT(error_of("{N0"), HasSubstr("do not hold"));
  EXPECT_THAT(error_of("NN"), HasSubstr("byte 1: more bytes after the end"));
  EXPECT_THAT(error_of(bytes("s\xFF\xFF\xFF\xFFx")), HasSubstr("a negative size"));
  EXPECT_THAT(error_of(bytes("(\xFF\xFF\xFF\x7Fx")), HasSubstr("do not hold"));
  EXPECT_THAT(error_of(bytes("(\xFF\xFF\xFF\x7FN")), HasSubstr("ends inside"));
  EXPECT_THAT(error_of(bytes("r\x00\x00\x00\x00")), HasSubstr("a reference to nothing"));
  EXPECT_THAT(error_of(bytes("R\x00\x00\x00\x00")), HasSubstr("a reference to nothing"));
  EXPECT_THAT(error_of(bytes("\xA9\x01r\x00\x00\x00\x00")), HasSubstr("holds itself"));
  EXPECT_THAT(error_of(bytes("\xFBNr\x00\x00\x00\x00"
                             "0")),
              HasSubstr("holds itself"));
  EXPECT_THAT(error_of(bytes("f\x02x1")), HasSubstr("a float that is no number"));
  EXPECT_THAT(error_of(bytes("f\x00")), HasSubstr("a float that is no number"));
  EXPECT_THAT(error_of(bytes("l\x01\x00\x00\x00\x00\x80")), HasSubstr("too large"));
  EXPECT_THAT(error_of(bytes("l\x05\x00\x00\x00\xff\x7f\xff\x7f\xff\x7f\xff\x7f\x08\x00")),
              HasSubstr("more than 63 bits"));
  EXPECT_THAT(error_of(bytes("l\x06\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00")),
              HasSubstr("more than 63 bits"));
}

TEST(MarshalReader, DepthAndSizeAreBounded) {
  const auto nested = [](int levels) {
    std::string dump;
    for (int i = 0; i < levels; ++i) dump += ")\x01";
    return dump + 'N';
  };
  EXPECT_EQ(error_of(nested(kMaxMarshalDepth)), "read");
  EXPECT_THAT(error_of(nested(kMaxMarshalDepth + 1)), HasSubstr("nested too deep"));
  EXPECT_THAT(error_of(nested(1'000'000)), HasSubstr("nested too deep"));
  EXPECT_THAT(error_of(std::string(kMaxMarshalBytes + 1, 'N')), HasSubstr("at most"));
  std::string many = bytes("(\xFF\xFF\xFF\x7F");
  many.append(kMaxMarshalValues + 1, 'N');
  EXPECT_THAT(error_of(many), HasSubstr("too many values"));
}

class RecordedDump : public ::testing::TestWithParam<const char*> {};

TEST_P(RecordedDump, CutAtEveryByteIsAnError) {
  const std::string dump = test::read_recorded(GetParam());
  ASSERT_EQ(error_of(dump), "read");
  for (std::size_t size = 0; size < dump.size(); ++size) {
    ASSERT_THAT(error_of(dump.substr(0, size)), HasSubstr("the dump ends inside a value")) << size;
  }
}

INSTANTIATE_TEST_SUITE_P(Versions, RecordedDump,
                         ::testing::Values("versions/0", "versions/1", "versions/2", "versions/3",
                                           "versions/4", "versions/profile"));

}  // namespace trainwatch::marshal_reader_test
