// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tensors/tensor_reduction.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <variant>

#include "pipeline/tensors/spectral_norm.h"

namespace trainwatch {
namespace {

constexpr std::array<std::string_view, 18> kReductions = {
    "min",     "max",          "mean",    "std",      "variance", "sum",
    "prod",    "l1",           "l2",      "abs_min",  "abs_max",  "abs_mean",
    "abs_std", "abs_variance", "abs_sum", "abs_prod", "abs_l1",   "abs_l2"};

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// In pairs, as numpy sums: the error grows with the logarithm of the size.
template <class Number>
double sum_of(std::size_t begin, std::size_t end, const Number& number) {
  constexpr std::size_t kBlock = 128;
  if (end - begin > kBlock) {
    const std::size_t middle = begin + (end - begin) / 2;
    return sum_of(begin, middle, number) + sum_of(middle, end, number);
  }
  double sum = 0;
  for (std::size_t at = begin; at < end; ++at) sum += number(at);
  return sum;
}

// The extreme of `count` > 0 numbers; NaN if there is one.
template <class Number, class Better>
double extreme(std::size_t count, const Number& number, Better better) {
  double found = number(0);
  for (std::size_t at = 0; at < count; ++at) {
    const double x = number(at);
    if (std::isnan(x)) return kNan;
    if (better(x, found)) found = x;
  }
  return found;
}

template <class Number>
double variance(std::size_t count, const Number& number) {
  if (count == 0) return kNan;
  const auto n = static_cast<double>(count);
  const double mean = sum_of(0, count, number) / n;
  return sum_of(0, count,
                [&](std::size_t at) {
                  const double from_mean = number(at) - mean;
                  return from_mean * from_mean;
                }) /
         n;
}

template <class Number>
double vector_length(std::size_t count, const Number& number) {
  const auto magnitude = [&](std::size_t at) { return std::abs(number(at)); };
  if (count == 0) return 0;
  const double largest = extreme(count, magnitude, std::greater<>{});
  if (largest == 0 || !std::isfinite(largest)) return largest;
  return largest * std::sqrt(sum_of(0, count, [&](std::size_t at) {
           const double x = number(at) / largest;
           return x * x;
         }));
}

// The largest sum of magnitudes in a column.
template <class Number>
double largest_column(std::size_t rows, std::size_t columns, const Number& number) {
  return extreme(
      columns,
      [&](std::size_t column) {
        return sum_of(0, rows,
                      [&](std::size_t row) { return std::abs(number(row * columns + column)); });
      },
      std::greater<>{});
}

template <class Number>
Result<double> spectral_norm(std::size_t rows, std::size_t columns, const Number& number) {
  std::vector<double> matrix(rows * columns);
  for (std::size_t at = 0; at < matrix.size(); ++at) {
    matrix[at] = number(at);
    if (!std::isfinite(matrix[at])) return Error{"l2 of a matrix needs finite numbers"};
  }
  return largest_singular_value(std::move(matrix), rows, columns);
}

template <class Number>
Result<double> norm(std::string_view name, const std::vector<std::int64_t>& shape,
                    std::size_t count, const Number& number) {
  if (shape.empty() || shape.size() > 2) {
    return Error{std::string{name} + " is a norm of vectors and matrices; this tensor has " +
                 std::to_string(shape.size()) + " dimensions"};
  }
  if (shape.size() == 1) {
    if (name == "l2") return vector_length(count, number);
    return sum_of(0, count, [&](std::size_t at) { return std::abs(number(at)); });
  }
  if (count == 0) return Error{std::string{name} + " of a matrix without elements"};
  const auto rows = static_cast<std::size_t>(shape[0]);
  const auto columns = static_cast<std::size_t>(shape[1]);
  if (name == "l2") return spectral_norm(rows, columns, number);
  return largest_column(rows, columns, number);
}

// `name` without abs_.
template <class Number>
Result<double> reduce_numbers(std::string_view name, const std::vector<std::int64_t>& shape,
                              std::size_t count, const Number& number) {
  if (name == "l1" || name == "l2") return norm(name, shape, count, number);
  if (name == "sum") return sum_of(0, count, number);
  if (name == "mean")
    return count == 0 ? kNan : sum_of(0, count, number) / static_cast<double>(count);
  if (name == "variance") return variance(count, number);
  if (name == "std") return std::sqrt(variance(count, number));
  if (name == "prod") {
    double product = 1;
    for (std::size_t at = 0; at < count; ++at) product *= number(at);
    return product;
  }
  if (count == 0) return Error{std::string{name} + " of a tensor without elements"};
  if (name == "min") return extreme(count, number, std::less<>{});
  return extreme(count, number, std::greater<>{});
}

template <class T>
Result<double> reduce_values(std::string_view name, bool absolute, const TensorValue& value,
                             const std::vector<T>& values) {
  if constexpr (std::is_same_v<T, std::string>) {
    return Error{"strings have no " + std::string{name}};
  } else if (value.imaginary.empty()) {
    const auto number = [&](std::size_t at) { return static_cast<double>(values[at]); };
    if (!absolute) return reduce_numbers(name, value.shape, values.size(), number);
    return reduce_numbers(name, value.shape, values.size(),
                          [&](std::size_t at) { return std::abs(number(at)); });
  } else {
    const bool of_magnitudes = name == "l1" || (name == "l2" && value.shape.size() < 2);
    if (!absolute && !of_magnitudes)
      return Error{std::string{name} + " of complex numbers; only of their magnitudes, as abs_" +
                   std::string{name}};
    return reduce_numbers(name, value.shape, values.size(), [&](std::size_t at) {
      return std::hypot(static_cast<double>(values[at]), value.imaginary[at]);
    });
  }
}

}  // namespace

std::span<const std::string_view> reduction_names() {
  return kReductions;
}

bool is_reduction(std::string_view name) {
  return std::ranges::find(kReductions, name) != kReductions.end();
}

Result<double> reduce(const TensorValue& value, std::string_view reduction) {
  if (!is_reduction(reduction)) return Error{"no reduction is called so"};
  const bool absolute = reduction.starts_with("abs_");
  if (absolute) reduction.remove_prefix(4);
  return std::visit(
      [&](const auto& values) { return reduce_values(reduction, absolute, value, values); },
      value.values);
}

}  // namespace trainwatch
