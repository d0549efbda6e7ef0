// SPDX-License-Identifier: Apache-2.0
#include "rules/tensor_line.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace trainwatch::cases {
namespace {

constexpr std::string_view kSyntax = "tensor NAME A..B V,V*N,...|normal(SEED,N,MEAN,DEV) [options]";

bool read_normal(std::string_view text, TensorLine& out) {
  if (!text.starts_with("normal(") || !text.ends_with(')')) return false;
  text.remove_prefix(7);
  text.remove_suffix(1);
  const Words parts = split(text, ',');
  out.normal = true;
  return parts.size() == 4 && read(parts[0], out.seed) && read(parts[1], out.count) &&
         read(parts[2], out.mean) && read(parts[3], out.deviation);
}

bool read_elements(std::string_view text, TensorLine& out) {
  for (const std::string_view part : split(text, ',')) {
    const std::size_t star = part.find('*');
    std::int64_t times = 1;
    TensorLine::Element element;
    if (!read_range(part.substr(0, star), element.from, element.to) ||
        (star != std::string_view::npos && !read(part.substr(star + 1), times)) || times < 1) {
      return false;
    }
    out.elements.insert(out.elements.end(), static_cast<std::size_t>(times), element);
  }
  return !out.elements.empty();
}

bool read_shape(std::string_view text, TensorLine& out) {
  for (const std::string_view part : split(text, 'x')) {
    if (!read(part, out.shape.emplace_back())) return false;
  }
  return true;
}

bool read_mode(std::string_view text, Mode& out) {
  for (int i = 0; i < static_cast<int>(Mode::count_); ++i) {
    out = static_cast<Mode>(i);
    if (to_string(out) == text) return true;
  }
  return false;
}

TensorStatistics statistics_of(const std::vector<double>& values) {
  TensorStatistics out;
  out.count = values.size();
  double sum = 0;
  double squares = 0;
  for (const double value : values) {
    out.nans += std::isnan(value) ? 1 : 0;
    out.infinities += std::isinf(value) ? 1 : 0;
    out.zeros += value == 0 ? 1 : 0;
    if (!std::isfinite(value)) continue;
    sum += value;
    squares += value * value;
    out.abs_mean += std::fabs(value);
  }
  const auto finite = static_cast<double>(out.finite());
  if (finite == 0) return out;
  out.mean = sum / finite;
  out.abs_mean /= finite;
  out.l2 = std::sqrt(squares);
  out.min = INFINITY;
  out.max = -INFINITY;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    out.min = std::min(out.min, value);
    out.max = std::max(out.max, value);
    out.variance += (value - out.mean) * (value - out.mean) / finite;
  }
  return out;
}

}  // namespace

std::vector<double> TensorLine::values(std::int64_t number) const {
  std::vector<double> made;
  if (normal) {
    std::mt19937_64 random(seed * 1000003 + static_cast<std::uint64_t>(number));
    // Box and Muller's, the same everywhere.
    const auto uniform = [&] { return (static_cast<double>(random() >> 11U) + 0.5) * 0x1p-53; };
    for (std::int64_t i = 0; i < count; ++i) {
      const double radius = std::sqrt(-2 * std::log(uniform()));
      made.push_back(mean + deviation * radius * std::cos(2 * M_PI * uniform()));
    }
    return made;
  }
  const double share =
      first == last ? 0 : static_cast<double>(number - first) / static_cast<double>(last - first);
  for (const Element& element : elements) {
    const bool constant = element.from == element.to || !std::isfinite(element.from);
    made.push_back(constant ? element.from : element.from + (element.to - element.from) * share);
  }
  return made;
}

Result<TensorLine> read_tensor_line(const Words& words) {
  TensorLine line;
  if (words.size() < 4 || words.size() % 2 != 0 || !read_range(words[2], line.first, line.last) ||
      !(read_normal(words[3], line) || (!line.normal && read_elements(words[3], line)))) {
    return Error{std::string(kSyntax)};
  }
  line.name = words[1];
  for (std::size_t i = 4; i < words.size(); i += 2) {
    const std::string_view name = words[i];
    const std::string_view text = words[i + 1];
    const bool known = (name == "shape" && read_shape(text, line)) ||
                       (name == "mode" && read_mode(text, line.mode)) ||
                       (name == "every" && read(text, line.every)) ||
                       (name == "stride" && read(text, line.stride));
    if (known) continue;
    if (name == "in") {
      line.collections = split(text, ',');
    } else if (name == "elements" && text == "no") {
      line.whole = false;
    } else {
      return Error{"cannot read '" + std::string(name) + " " + std::string(text) + "'"};
    }
  }
  return line;
}

OwnedTensor::OwnedTensor(const TensorLine& line, std::int64_t number, Interner& interner)
    : shape_(line.shape), values_(line.values(number)) {
  for (const std::string_view name : line.collections) {
    collections_.push_back(interner.symbols.intern(name));
  }
  if (shape_.empty() && values_.size() > 1) shape_ = {static_cast<std::int64_t>(values_.size())};
  const std::size_t samples = std::min(values_.size(), Tensor::kMostSamples);
  for (std::size_t i = 0; i < samples; ++i) {
    sample_.push_back(values_[i * values_.size() / samples]);
  }
  tensor.step = tensor.mode_step = number * line.stride;
  tensor.mode = line.mode;
  tensor.name = interner.symbols.intern(line.name);
  tensor.statistics = statistics_of(values_);
  tensor.collections = collections_;
  tensor.shape = shape_;
  tensor.sample = sample_;
  if (line.whole) tensor.values = values_;
}

}  // namespace trainwatch::cases
