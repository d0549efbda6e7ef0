// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tensors/tensor_outline.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "pipeline/tensors/tensor_value.h"
#include "unit/tensors/tensor_record.h"

namespace trainwatch {
namespace tensor_outline_test {

using namespace tensor_record;

using Shape = std::vector<std::int64_t>;

TEST(TensorOutline, OfAWholeRecord) {
  const std::string record =
      frame(event(with_content(tensor(1, {3, 4}), bytes_of(std::vector<float>(12)))));
  const auto outline = outline_tensor(record);
  ASSERT_TRUE(outline);
  EXPECT_EQ(outline->type, 1);
  EXPECT_EQ(outline->shape, (Shape{3, 4}));
  EXPECT_GE(outline->decoded_bytes, 12 * sizeof(double));
  EXPECT_LT(outline->decoded_bytes, 1024U);
  EXPECT_EQ(stored_type_name(outline->type), "float32");
}

// The length of the content is before it, so its beginning has the size.
TEST(TensorOutline, OfTheBeginningOfALargeRecord) {
  const std::string record =
      frame(event(with_content(tensor(3, {1000, 10}), bytes_of(std::vector<std::int32_t>(10000)))));
  const auto outline = outline_tensor(record.substr(0, 100));
  ASSERT_TRUE(outline);
  EXPECT_EQ(outline->shape, (Shape{1000, 10}));
  EXPECT_GE(outline->decoded_bytes, 10000 * sizeof(double));
}

// Small records that decode to something large.
TEST(TensorOutline, ExpectsWhatRepeatsAndWhatIsPacked) {
  std::string repeated = tensor(1, {1 << 12, 1 << 12});
  protozero::pbf_writer{repeated}.add_float(5, 7);
  EXPECT_GE(outline_tensor(frame(event(repeated)))->decoded_bytes, sizeof(double) << 24U);
  std::string packed = tensor(9, {100000});
  const std::vector<std::int64_t> ones(100000, 1);
  protozero::pbf_writer{packed}.add_packed_int64(10, ones.begin(), ones.end());
  EXPECT_GE(outline_tensor(frame(event(packed)))->decoded_bytes, 100000 * sizeof(double));
  std::string texts = tensor(7, {1 << 20});
  protozero::pbf_writer{texts}.add_string(8, std::string(1000, 'x'));
  EXPECT_GE(outline_tensor(frame(event(texts)))->decoded_bytes, std::uint64_t{1000} << 20U);
}

TEST(TensorOutline, AnyTruncationAndAnyByteIsSurvived) {
  const std::string record =
      frame(event(with_content(tensor(1, {2}), bytes_of(std::vector<float>{4, 5}))));
  for (std::size_t size = 0; size < record.size(); ++size) {
    static_cast<void>(outline_tensor(record.substr(0, size)));
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = record;
      flipped[size] = static_cast<char>(flipped[size] ^ (1 << bit));
      static_cast<void>(outline_tensor(flipped));
    }
  }
  EXPECT_FALSE(outline_tensor(""));
  EXPECT_FALSE(outline_tensor(frame("")));
}

}  // namespace tensor_outline_test
}  // namespace trainwatch
