// SPDX-License-Identifier: Apache-2.0
// The job of every subject, looked up once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "trainwatch/interner.h"

namespace trainwatch {

class JobIds {
 public:
  // `interner` outlives it.
  explicit JobIds(const Interner& interner) : interner_(interner) {}

  SubjectId of(SubjectId subject) {
    const auto index = static_cast<std::size_t>(subject);
    if (index < jobs_.size() && jobs_[index] != kUnknown) return jobs_[index];
    return look_up(subject);
  }

 private:
  // SubjectId::none is that of the job without a name.
  static constexpr SubjectId kUnknown{std::numeric_limits<std::uint32_t>::max()};

  SubjectId look_up(SubjectId subject) {
    const auto index = static_cast<std::size_t>(subject);
    if (index >= jobs_.size()) jobs_.resize(index + 1, kUnknown);
    jobs_[index] = interner_.subjects.find(project(interner_.subjects[subject], Scope::job));
    return jobs_[index];
  }

  const Interner& interner_;
  std::vector<SubjectId> jobs_;  // by SubjectId
};

}  // namespace trainwatch
