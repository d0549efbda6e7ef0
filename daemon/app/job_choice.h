// SPDX-License-Identifier: Apache-2.0
// Which job a request is about.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace trainwatch {

struct JobChoice {
  std::string job;  // empty: there is none yet
  int refused = 0;  // 404: there is no such job; 400: there are several, and none is named
};

inline JobChoice choose_job(const std::vector<std::string>& jobs,
                            const std::optional<std::string>& wanted) {
  if (wanted) {
    const bool known = std::find(jobs.begin(), jobs.end(), *wanted) != jobs.end();
    return {*wanted, known ? 0 : 404};
  }
  if (jobs.size() > 1) return {"", 400};
  return {jobs.empty() ? std::string() : jobs.front(), 0};
}

}  // namespace trainwatch
