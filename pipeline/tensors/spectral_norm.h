// SPDX-License-Identifier: Apache-2.0
// The largest singular value of a matrix, by Golub and Kahan's bidiagonalization as Lanczos'
// iteration on the smaller of A'A and AA' (Golub, Van Loan: Matrix Computations, 10.4), with full
// orthogonalization. Deterministic.
#pragma once

#include <cstddef>
#include <vector>

namespace trainwatch {

// `matrix` is row-major, finite and not empty. Relative error about 1e-12 unless the largest
// singular values are many and nearly equal; then the result is too small by less than they
// differ. Time: at most 300 times two passes over the matrix; memory: the matrix, and 300 vectors
// of its smaller dimension.
double largest_singular_value(std::vector<double> matrix, std::size_t rows, std::size_t columns);

}  // namespace trainwatch
