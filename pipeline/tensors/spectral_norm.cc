// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tensors/spectral_norm.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>

namespace trainwatch {
namespace {

constexpr std::size_t kMostSteps = 300;
// Ends when the value has moved by less than this, relatively, so many steps in a row.
constexpr double kStill = 1e-14;
constexpr int kStillSteps = 8;

using Vector = std::vector<double>;

double dot(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

void add_scaled(std::span<double> to, double factor, std::span<const double> vector) {
  std::transform(vector.begin(), vector.end(), to.begin(), to.begin(),
                 [factor](double x, double sum) { return sum + factor * x; });
}

class GramOperator {
 public:
  GramOperator(std::span<const double> matrix, std::size_t rows, std::size_t columns)
      : matrix_(matrix), rows_(rows), columns_(columns) {}

  std::size_t size() const { return std::min(rows_, columns_); }

  Vector operator()(const Vector& vector) const {
    return columns_ <= rows_ ? columns_of(rows_by(vector)) : rows_by(columns_of(vector));
  }

 private:
  std::span<const double> row(std::size_t index) const {
    return matrix_.subspan(index * columns_, columns_);
  }
  Vector rows_by(const Vector& vector) const {  // A v
    Vector result(rows_);
    for (std::size_t r = 0; r < rows_; ++r) result[r] = dot(row(r), vector);
    return result;
  }
  Vector columns_of(const Vector& vector) const {  // A' v
    Vector result(columns_);
    for (std::size_t r = 0; r < rows_; ++r) add_scaled(result, vector[r], row(r));
    return result;
  }

  std::span<const double> matrix_;
  std::size_t rows_;
  std::size_t columns_;
};

// The symmetric tridiagonal matrix that the iteration builds.
struct Tridiagonal {
  Vector diagonal;
  Vector beside;  // one less

  // Whether all eigenvalues are below `limit`: Sturm's sequence has no positive pivot.
  bool is_below(double limit) const {
    double pivot = diagonal[0] - limit;
    for (std::size_t k = 1; pivot < 0 && k < diagonal.size(); ++k)
      pivot = diagonal[k] - limit - beside[k - 1] * beside[k - 1] / pivot;
    return pivot < 0;
  }

  double largest_eigenvalue() const {
    double high = 0;  // Gershgorin's bound
    for (std::size_t k = 0; k < diagonal.size(); ++k) {
      const double before = k > 0 ? std::abs(beside[k - 1]) : 0;
      const double after = k < diagonal.size() - 1 ? std::abs(beside[k]) : 0;
      high = std::max(high, diagonal[k] + before + after);
    }
    double low = 0;
    for (double middle = high / 2; middle > low && middle < high; middle = low + (high - low) / 2)
      (is_below(middle) ? high : low) = middle;
    return high;
  }
};

// Anything that is not orthogonal to what is looked for, the same on every machine.
Vector start_vector(std::size_t size) {
  std::uint64_t state = 0x9e3779b97f4a7c15U;
  Vector vector(size);
  for (double& x : vector) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    x = 0.5 + static_cast<double>(state >> 11U) * 0x1p-53;
  }
  const double length = std::sqrt(dot(vector, vector));
  for (double& x : vector) x /= length;
  return vector;
}

double largest_eigenvalue(const GramOperator& gram) {
  std::vector<Vector> basis{start_vector(gram.size())};
  Tridiagonal reduced;
  double found = 0;
  int still = 0;
  while (true) {
    Vector next = gram(basis.back());
    reduced.diagonal.push_back(dot(next, basis.back()));
    for (int twice = 0; twice < 2; ++twice) {
      for (const Vector& before : basis) add_scaled(next, -dot(next, before), before);
    }
    const double now = reduced.largest_eigenvalue();
    still = now - found <= kStill * now ? still + 1 : 0;
    found = std::max(found, now);
    const double length = std::sqrt(dot(next, next));
    const bool whole = basis.size() == gram.size() || length <= kStill * found;
    if (whole || still == kStillSteps || basis.size() == kMostSteps) return found;
    for (double& x : next) x /= length;
    reduced.beside.push_back(length);
    basis.push_back(std::move(next));
  }
}

}  // namespace

double largest_singular_value(std::vector<double> matrix, std::size_t rows, std::size_t columns) {
  double scale = 0;  // squares must neither overflow nor vanish
  for (const double x : matrix) scale = std::max(scale, std::abs(x));
  if (scale == 0) return 0;
  for (double& x : matrix) x /= scale;
  return scale * std::sqrt(largest_eigenvalue({matrix, rows, columns}));
}

}  // namespace trainwatch
