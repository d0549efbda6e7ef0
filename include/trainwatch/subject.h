// Who an event or an alert is about: a job, a node, a rank, a GPU, or a part of these.
#pragma once

#include <cassert>
#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "trainwatch/state_io.h"

namespace trainwatch {

inline constexpr std::int32_t kNoRank = -1;
inline constexpr std::int64_t kNoProcess = -1;

// An empty string, kNoRank or kNoProcess means "does not apply" and is left out wherever a subject
// is shown.
struct Subject {
  std::string job;
  std::string node;  // "algo-1", or a host name
  std::int32_t rank = kNoRank;
  std::string gpu;                    // device index as text, "0"
  std::int64_t process = kNoProcess;  // of the operating system, of a rank that nothing names

  auto operator<=>(const Subject&) const = default;

  void state(StateIo& io) {
    io(job);
    io(node);
    io(rank);
    io(gpu);
    io(process);
  }
};

// The node, or "node:process": what tells writers apart that have no rank.
inline std::string writer_name(const Subject& subject) {
  if (subject.process == kNoProcess) return subject.node;
  return subject.node + ":" + std::to_string(subject.process);
}

// What one instance of a rule covers. The engine makes one instance per scope key.
enum class Scope : std::uint8_t { job, node, rank, gpu };

// The part of `subject` that a rule of this scope is keyed by.
inline Subject project(const Subject& subject, Scope scope) {
  switch (scope) {
    case Scope::job:
      return {subject.job, "", kNoRank, ""};
    case Scope::node:
      return {subject.job, subject.node, kNoRank, ""};
    case Scope::rank:
      return {subject.job, subject.node, subject.rank, "", subject.process};
    case Scope::gpu:
      return {subject.job, subject.node, kNoRank, subject.gpu};
  }
  return subject;
}

enum class SubjectId : std::uint32_t { none = 0 };

// Dense ids for subjects, so that per-subject state is a vector index. Single-threaded, owned by
// the engine. Bounded: beyond `max_subjects`, intern() returns SubjectId::none and counts.
class SubjectTable {
 public:
  explicit SubjectTable(std::size_t max_subjects = 4096) : max_subjects_(max_subjects) {
    subjects_.emplace_back();
    ids_[Subject{}] = SubjectId::none;
  }

  SubjectId intern(const Subject& subject) {
    if (const auto known = ids_.find(subject); known != ids_.end()) return known->second;
    for (const Scope scope : {Scope::job, Scope::node, Scope::rank, Scope::gpu}) {
      if (const Subject key = project(subject, scope); key != subject) intern(key);
    }
    if (subjects_.size() >= max_subjects_) {
      ++dropped_;
      return SubjectId::none;
    }
    subjects_.push_back(subject);
    const auto id = static_cast<SubjectId>(subjects_.size() - 1);
    ids_.emplace(subject, id);
    return id;
  }

  // SubjectId::none if not known. Interning a subject interns its scope keys too, so these are
  // found as long as the table has not overflowed.
  SubjectId find(const Subject& subject) const {
    const auto known = ids_.find(subject);
    return known == ids_.end() ? SubjectId::none : known->second;
  }

  const Subject& operator[](SubjectId id) const {
    assert(static_cast<std::size_t>(id) < subjects_.size());
    return subjects_[static_cast<std::size_t>(id)];
  }
  std::size_t size() const { return subjects_.size(); }
  std::uint64_t dropped() const { return dropped_; }
  std::size_t limit() const { return max_subjects_; }

  // Ids keep their numbers: other saved state refers to them.
  void state(StateIo& io) {
    io(subjects_);
    io(dropped_);
    if (!io.is_loading()) return;
    ids_.clear();
    for (std::size_t i = 0; i < subjects_.size(); ++i) {
      ids_.emplace(subjects_[i], static_cast<SubjectId>(i));
    }
  }

 private:
  std::size_t max_subjects_;
  std::uint64_t dropped_ = 0;
  std::deque<Subject> subjects_;
  std::map<Subject, SubjectId> ids_;
};

}  // namespace trainwatch
