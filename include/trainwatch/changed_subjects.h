// SPDX-License-Identifier: Apache-2.0
// Which subjects changed since their rows were last put, so that a commit writes only these.
#pragma once

#include <set>

#include "trainwatch/subject.h"

namespace trainwatch {

class ChangedSubjects {
 public:
  void add(SubjectId subject) {
    if (subject == latest_ && !subjects_.empty()) return;  // events of one come together
    subjects_.insert(subject);
    latest_ = subject;
  }
  // Calls `use(subject)` for each, and forgets them.
  template <class Use>
  void take(Use&& use) {
    for (const SubjectId subject : subjects_) use(subject);
    subjects_.clear();
  }

 private:
  std::set<SubjectId> subjects_;
  SubjectId latest_ = SubjectId::none;
};

}  // namespace trainwatch
