#include "daemon/app/fd_budget.h"

#include <sys/resource.h>

#include <algorithm>
#include <limits>

namespace trainwatch {
namespace {

// The store, inotify, the listener, the event loops' own, standard streams.
constexpr std::size_t kOwn = 24;

}  // namespace

FdBudget fd_budget(std::size_t limit) {
  const std::size_t left = limit - std::min(limit, kOwn);
  return {std::max<std::size_t>(1, left / 2), std::max<std::size_t>(1, left / 4)};
}

std::size_t descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return std::numeric_limits<std::size_t>::max();
  }
  return limit.rlim_cur;
}

}  // namespace trainwatch
