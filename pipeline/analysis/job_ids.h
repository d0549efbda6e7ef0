// SPDX-License-Identifier: Apache-2.0
// The job of every subject, looked up once.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "trainwatch/interner.h"

namespace trainwatch {

class JobIds {
 public:
  // `interner` outlives it.
  explicit JobIds(const Interner& interner) : interner_(interner) {}

  SubjectId of(SubjectId subject) {
    const auto index = static_cast<std::size_t>(subject);
    if (index >= jobs_.size()) jobs_.resize(index + 1);
    if (!jobs_[index])
      jobs_[index] = interner_.subjects.find(project(interner_.subjects[subject], Scope::job));
    return *jobs_[index];
  }

 private:
  const Interner& interner_;
  std::vector<std::optional<SubjectId>> jobs_;  // by SubjectId
};

}  // namespace trainwatch
