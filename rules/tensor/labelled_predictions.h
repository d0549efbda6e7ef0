// SPDX-License-Identifier: Apache-2.0
// Pairs the labels of a step with the predictions of the same step and mode, whichever of the two
// tensors was saved first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "trainwatch/event.h"
#include "trainwatch/state_io.h"
#include "trainwatch/tensor.h"

namespace trainwatch {

class LabelledPredictions {
 public:
  static constexpr std::size_t kMostSamples = 65536;  // of a step; further ones do not count
  static constexpr std::int32_t kMostClasses = 256;

  // Classes that have a label or a prediction outside 0..kMostClasses-1 are left out.
  struct Pair {
    std::int32_t label = 0;
    std::int32_t prediction = 0;
  };

  // Numbers of classes. Calls `pair(Pair)` for each sample once both are there.
  template <class Take>
  void labels(const Tensor& tensor, Take&& take) {
    reach(tensor);
    if (labels_.empty()) labels_ = classes(tensor.values);
    join(take);
  }
  // Numbers of classes; with `argmax`, a row per sample with a figure for each class.
  template <class Take>
  void predictions(const Tensor& tensor, bool argmax, Take&& take) {
    reach(tensor);
    if (predictions_.empty()) {
      predictions_ = argmax && tensor.shape.size() > 1 ? largest(tensor) : classes(tensor.values);
    }
    join(take);
  }

  bool possible() const {
    return labels_.size() <= kMostSamples && predictions_.size() <= kMostSamples &&
           mode_ < Mode::count_;
  }
  void state(StateIo& io) {
    io(step_);
    io(mode_);
    io(labels_);
    io(predictions_);
  }

 private:
  void reach(const Tensor& tensor) {
    if (step_ == tensor.step && mode_ == tensor.mode) return;
    step_ = tensor.step;
    mode_ = tensor.mode;
    labels_.clear();
    predictions_.clear();
  }
  static std::vector<std::int32_t> classes(std::span<const double> values) {
    std::vector<std::int32_t> out;
    for (const double value : values.first(std::min(values.size(), kMostSamples))) {
      const bool valid = value >= 0 && value < kMostClasses;
      out.push_back(valid ? static_cast<std::int32_t>(value + 0.5) : kMostClasses);
    }
    return out;
  }
  static std::vector<std::int32_t> largest(const Tensor& tensor) {
    std::vector<std::int32_t> out;
    const auto width = static_cast<std::size_t>(std::max<std::int64_t>(tensor.shape.back(), 1));
    const std::size_t rows = std::min(tensor.values.size() / width, kMostSamples);
    for (std::size_t row = 0; row < rows; ++row) {
      const auto values = tensor.values.subspan(row * width, width);
      out.push_back(static_cast<std::int32_t>(std::min<std::ptrdiff_t>(
          std::ranges::max_element(values) - values.begin(), kMostClasses)));
    }
    return out;
  }
  template <class Take>
  void join(Take&& take) {
    const std::size_t count = std::min(labels_.size(), predictions_.size());
    if (count == 0) return;
    for (std::size_t i = 0; i < count; ++i) {
      if (is_class(labels_[i]) && is_class(predictions_[i]))
        take(Pair{labels_[i], predictions_[i]});
    }
    labels_.clear();
    predictions_.clear();
  }
  static bool is_class(std::int32_t number) { return number >= 0 && number < kMostClasses; }

  std::int64_t step_ = kNoStep;
  Mode mode_ = Mode::global;
  std::vector<std::int32_t> labels_;
  std::vector<std::int32_t> predictions_;
};

}  // namespace trainwatch
