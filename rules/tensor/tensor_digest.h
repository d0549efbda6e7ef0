// What is kept of a tensor to compare it with one of another run: figures of all of its elements,
// and a few of the elements themselves. 208 bytes for a tensor of any size.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "trainwatch/state_io.h"
#include "trainwatch/tensor.h"

namespace trainwatch {

struct Tolerance {
  double relative = 0;
  double absolute = 0;
};

struct TensorDigest {
  static constexpr std::size_t kElements = 16;
  static constexpr double kMost = 1e9;  // of how_far(): also where nothing is within a tolerance

  std::uint64_t count = 0;
  std::uint64_t nans = 0;
  std::uint64_t infinities = 0;
  double min = 0;
  double max = 0;
  double mean = 0;
  double abs_mean = 0;
  double l2 = 0;
  std::uint32_t kept = 0;
  std::array<double, kElements> elements{};  // at equal distances

  explicit TensorDigest(const Tensor& tensor);
  TensorDigest() = default;

  // How far this is from `other`, which has as many elements, in tolerances: 1 is at the edge of
  // what numpy.allclose(this, other) accepts, with NaN equal to NaN. Figures are given the most
  // that elements within the tolerance can move them, so a result above 1 is never wrong.
  double how_far(const TensorDigest& other, const Tolerance& tolerance) const;

  bool possible() const { return kept <= kElements; }
  void state(StateIo& io) {
    io(count);
    io(nans);
    io(infinities);
    io(min);
    io(max);
    io(mean);
    io(abs_mean);
    io(l2);
    io(kept);
    io(elements);
    if (!possible()) io.fail();
  }
};

inline TensorDigest::TensorDigest(const Tensor& tensor)
    : count(tensor.statistics.count),
      nans(tensor.statistics.nans),
      infinities(tensor.statistics.infinities),
      min(tensor.statistics.min),
      max(tensor.statistics.max),
      mean(tensor.statistics.mean),
      abs_mean(tensor.statistics.abs_mean),
      l2(tensor.statistics.l2),
      kept(static_cast<std::uint32_t>(std::min(tensor.sample.size(), kElements))) {
  for (std::size_t i = 0; i < kept; ++i) {
    elements[i] = tensor.sample[i * tensor.sample.size() / kept];
  }
}

inline double TensorDigest::how_far(const TensorDigest& other, const Tolerance& tolerance) const {
  if (nans != other.nans || infinities != other.infinities) return kMost;
  double most = 0;
  const auto compare = [&](double here, double there, double room) {
    const bool same = here == there || (std::isnan(here) && std::isnan(there));
    if (same) return;
    const double far = std::fabs(here - there) / room;
    most = std::max(most, far <= kMost ? far : kMost);  // not finite: kMost
  };
  const auto room_at = [&](double size) { return tolerance.absolute + tolerance.relative * size; };
  for (std::size_t i = 0; i < std::min(kept, other.kept); ++i) {
    compare(elements[i], other.elements[i], room_at(std::fabs(other.elements[i])));
  }
  const double largest = std::max(std::fabs(other.min), std::fabs(other.max));
  const double finite = static_cast<double>(count - nans - infinities);
  compare(mean, other.mean, room_at(other.abs_mean));
  compare(abs_mean, other.abs_mean, room_at(other.abs_mean));
  compare(min, other.min, room_at(largest));
  compare(max, other.max, room_at(largest));
  compare(l2, other.l2, tolerance.absolute * std::sqrt(finite) + tolerance.relative * other.l2);
  return most;
}

}  // namespace trainwatch
