// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tensors/tensor_slice.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace trainwatch {
namespace {

struct Range {
  std::int64_t begin = 0;
  std::int64_t count = 0;
  bool keeps_dimension = true;
};

std::optional<std::int64_t> parse_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Where `number` leads in a dimension, cut to it.
std::int64_t bound(std::int64_t number, std::int64_t size) {
  return std::clamp(number < 0 ? number + size : number, std::int64_t{0}, size);
}

Result<Range> parse_range(std::string_view text, std::int64_t size) {
  const Error no_range{"a slice has a number or begin:end for each dimension, as in 3,:,2:10"};
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    const auto number = parse_number(text);
    if (!number) return no_range;
    if (*number >= size || *number < -size)
      return Error{"the slice is outside a dimension of " + std::to_string(size)};
    return Range{*number < 0 ? *number + size : *number, 1, false};
  }
  const std::string_view first = text.substr(0, colon);
  const std::string_view last = text.substr(colon + 1);
  const auto begin = first.empty() ? std::optional<std::int64_t>{0} : parse_number(first);
  const auto end = last.empty() ? std::optional<std::int64_t>{size} : parse_number(last);
  if (!begin || !end) return no_range;
  const std::int64_t from = bound(*begin, size);
  return Range{from, std::max(bound(*end, size) - from, std::int64_t{0})};
}

Result<std::vector<Range>> parse_slice(std::string_view slice,
                                       const std::vector<std::int64_t>& shape) {
  std::vector<Range> ranges;
  while (!slice.empty()) {
    if (ranges.size() == shape.size())
      return Error{"the slice has more dimensions than the tensor"};
    const std::size_t comma = std::min(slice.find(','), slice.size());
    const auto range = parse_range(slice.substr(0, comma), shape[ranges.size()]);
    if (!range) return range.error();
    ranges.push_back(*range);
    slice.remove_prefix(std::min(comma + 1, slice.size()));
  }
  for (std::size_t at = ranges.size(); at < shape.size(); ++at) ranges.push_back({0, shape[at]});
  return ranges;
}

// Copies the elements in `ranges` in their order.
class Gatherer {
 public:
  Gatherer(const std::vector<std::int64_t>& shape, const std::vector<Range>& ranges)
      : ranges_(ranges), strides_(shape.size(), 1) {
    for (std::size_t at = shape.size(); at-- > 1;) strides_[at - 1] = strides_[at] * shape[at];
  }

  template <class T>
  std::vector<T> operator()(const std::vector<T>& from) const {
    std::vector<T> to;
    std::size_t count = 1;
    for (const Range& range : ranges_) count *= static_cast<std::size_t>(range.count);
    to.reserve(count);
    if (count > 0) gather(from, 0, 0, to);
    return to;
  }

 private:
  template <class T>
  void gather(const std::vector<T>& from, std::size_t dimension, std::int64_t offset,
              std::vector<T>& to) const {
    if (dimension == ranges_.size()) {
      to.push_back(from[static_cast<std::size_t>(offset)]);
      return;
    }
    const Range& range = ranges_[dimension];
    for (std::int64_t at = range.begin; at < range.begin + range.count; ++at)
      gather(from, dimension + 1, offset + at * strides_[dimension], to);
  }

  const std::vector<Range>& ranges_;
  std::vector<std::int64_t> strides_;
};

}  // namespace

Result<TensorValue> slice_tensor(const TensorValue& value, std::string_view slice) {
  const auto ranges = parse_slice(slice, value.shape);
  if (!ranges) return ranges.error();
  const Gatherer gather(value.shape, *ranges);
  TensorValue part;
  part.dtype = value.dtype;
  for (const Range& range : *ranges) {
    if (range.keeps_dimension) part.shape.push_back(range.count);
  }
  std::visit([&](const auto& values) { part.values = gather(values); }, value.values);
  if (!value.imaginary.empty()) part.imaginary = gather(value.imaginary);
  return part;
}

}  // namespace trainwatch
