// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/event_file/tensor_statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>

namespace trainwatch {

void TensorAccumulator::begin(ElementType type, std::uint64_t count, bool keep) {
  type_ = type;
  keep_ = keep && count <= Tensor::kMostValues;
  expected_ = count;
  left_ = count * element_size(type);
  rest_.clear();
  figures_ = {};
  sample_.clear();
  values_.clear();
  sample_.reserve(std::min<std::uint64_t>(count, Tensor::kMostSamples));
  if (keep_) values_.reserve(count);
}

void TensorAccumulator::add(std::string_view bytes) {
  bytes = bytes.substr(0, left_);
  left_ -= bytes.size();
  with_element(type_, [&]<class Element>(Element) {
    constexpr std::size_t kBytes = kBlock * sizeof(typename Element::Stored);
    if (!rest_.empty()) {
      const std::string_view missing = bytes.substr(0, kBytes - rest_.size());
      rest_.append(missing);
      bytes.remove_prefix(missing.size());
      if (rest_.size() < kBytes) return;
      block<Element>(rest_);
      rest_.clear();
    }
    for (; bytes.size() >= kBytes; bytes.remove_prefix(kBytes))
      block<Element>(bytes.substr(0, kBytes));
    rest_.assign(bytes);
  });
}

void TensorAccumulator::finish() {
  with_element(type_, [&]<class Element>(Element) { block<Element>(rest_); });
  rest_.clear();
  left_ = 0;
}

void TensorAccumulator::repeat(double value, std::uint64_t count) {
  BlockFigures same;
  same.count = count - figures_.count;
  same.nans = std::isnan(value) ? same.count : 0;
  same.infinities = std::isinf(value) ? same.count : 0;
  if (same.finite() > 0) {
    same.zeros = value == 0 ? same.count : 0;
    same.min = same.max = same.mean = value;
    same.abs_mean = std::abs(value);
  }
  figures_.join(same);
  sample_.resize(std::min<std::uint64_t>(count, Tensor::kMostSamples), value);
  keep_ = keep_ && count <= Tensor::kMostValues;
  if (keep_) {
    values_.resize(count, value);
  } else {
    values_.clear();
  }
}

template <class Element>
void TensorAccumulator::block(std::string_view bytes) {
  using Stored = typename Element::Stored;
  using Number = typename Element::Number;
  const std::size_t count = bytes.size() / sizeof(Stored);
  const auto element = [bytes](std::uint64_t place) {
    return static_cast<double>(read_element<Element>(bytes.data() + place * sizeof(Stored)));
  };
  const std::uint64_t from = figures_.count;
  const std::optional<double> origin =
      figures_.finite() > 0 ? std::optional(figures_.mean) : std::nullopt;
  if constexpr (std::is_same_v<Stored, Number>) {
    figures_.join(figures_of<Number>(bytes.data(), count, origin));
  } else {
    std::array<Number, kBlock> numbers;  // NOLINT: all that is read is written
    for (std::size_t i = 0; i < count; ++i)
      numbers[i] = read_element<Element>(bytes.data() + i * sizeof(Stored));
    figures_.join(figures_of<Number>(reinterpret_cast<const char*>(numbers.data()), count, origin));
  }
  // Of few elements all, otherwise element i * expected / kMostSamples.
  const std::uint64_t samples = std::min<std::uint64_t>(expected_, Tensor::kMostSamples);
  while (sample_.size() < samples) {
    const std::uint64_t place = sample_.size() * expected_ / samples;
    if (place >= from + count) break;
    sample_.push_back(element(place - from));
  }
  if (!keep_) return;
  for (std::size_t i = 0; i < count; ++i) values_.push_back(element(i));
}

TensorStatistics TensorAccumulator::statistics() const {
  TensorStatistics all;
  all.count = figures_.count;
  all.nans = figures_.nans;
  all.infinities = figures_.infinities;
  if (all.finite() == 0) return all;
  const auto saturated = [](double x) {
    constexpr double kMost = std::numeric_limits<double>::max();
    return std::clamp(x, -kMost, kMost);
  };
  const auto finite = static_cast<double>(all.finite());
  all.zeros = figures_.zeros;
  all.min = figures_.min;
  all.max = figures_.max;
  all.mean = saturated(figures_.mean);
  all.abs_mean = saturated(figures_.abs_mean);
  all.variance = saturated(figures_.squares / finite);
  all.l2 = saturated(std::sqrt(figures_.squares + finite * figures_.mean * figures_.mean));
  return all;
}

void TensorAccumulator::state(StateIo& io) {
  io(type_);
  io(keep_);
  io(expected_);
  io(left_);
  io(rest_);
  io(figures_);
  io(sample_);
  io(values_);
  const std::size_t size = element_size(type_);
  constexpr std::uint64_t kMostExpected = std::uint64_t{1} << 48U;  // places of samples have room
  if (expected_ > kMostExpected || rest_.size() > kBlock * sizeof(double) ||
      (size == 0 && !rest_.empty()) || sample_.size() > Tensor::kMostSamples ||
      values_.size() > Tensor::kMostValues)
    io.fail();
}

}  // namespace trainwatch
