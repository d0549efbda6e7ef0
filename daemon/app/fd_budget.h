// SPDX-License-Identifier: Apache-2.0
// How the file descriptors of the process are divided, so that connecting clients cannot keep files
// from being read or state from being stored, and files cannot shut out clients.
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <cstddef>
#include <limits>

namespace trainwatch {

struct FdBudget {
  std::size_t connections;
  std::size_t files;  // open at a time; not counting those that just vanished
};

// Store, inotify, listener, event loops, standard streams.
inline constexpr std::size_t kOwnDescriptors = 24;
// With fewer the daemon does not start: a connection and a file, and a few that just vanished.
inline constexpr std::size_t kFewestDescriptors = kOwnDescriptors + 8;

// For a process that may have `limit` descriptors open. At least one of each.
inline FdBudget fd_budget(std::size_t limit) {
  const std::size_t left = limit - std::min(limit, kOwnDescriptors);
  return {std::max<std::size_t>(1, left / 2), std::max<std::size_t>(1, left / 4)};
}

// The limit with which fd_budget() has this many of both.
inline std::size_t descriptors_for(const FdBudget& wanted) {
  return kOwnDescriptors + std::max(2 * wanted.connections, 4 * wanted.files);
}

// RLIMIT_NOFILE of this process.
inline std::size_t descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return std::numeric_limits<std::size_t>::max();
  }
  return limit.rlim_cur;
}

// Raises RLIMIT_NOFILE of this process to `wanted`, or as far as it may.
inline void raise_descriptor_limit(std::size_t wanted) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return;
  limit.rlim_cur = std::min<rlim_t>(wanted, limit.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &limit);  // without success the budget is smaller
}

}  // namespace trainwatch
