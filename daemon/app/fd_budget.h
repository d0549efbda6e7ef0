// How the file descriptors of the process are shared out, so that clients who connect cannot keep
// files from being read or state from being stored, nor the files clients.
#pragma once

#include <cstddef>

namespace trainwatch {

struct FdBudget {
  std::size_t connections;
  std::size_t files;  // that are open at a time; those that just vanished come on top
};

// For a process that may have `limit` descriptors open. At least one of each.
FdBudget fd_budget(std::size_t limit);

// RLIMIT_NOFILE of this process.
std::size_t descriptor_limit();

}  // namespace trainwatch
