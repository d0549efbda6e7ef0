// SPDX-License-Identifier: Apache-2.0
// Who an event or an alert is about: a job, a node, a rank, a GPU, or a part of these.
#pragma once

#include <cassert>
#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "trainwatch/shares.h"
#include "trainwatch/state_io.h"
#include "trainwatch/valid_text.h"

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
};

// The node, "node:process", or "process 123" if no node is known: what tells writers apart that
// have no rank.
inline std::string writer_name(const Subject& subject) {
  if (subject.process == kNoProcess) return subject.node;
  return (subject.node.empty() ? "process " : subject.node + ":") + std::to_string(subject.process);
}

// What one instance of a rule covers; `all`: every job. The engine makes one instance per scope
// key.
enum class Scope : std::uint8_t { job, node, rank, gpu, all };

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
    case Scope::all:
      return {};
  }
  return subject;
}

enum class SubjectId : std::uint32_t { none = 0 };

// Dense ids for subjects, so that per-subject state is a vector index. SubjectId::none is the
// subject of which nothing is known. Single-threaded, owned by the engine.
//
// Names come from files, so each is made valid text of at most kLongestName bytes when it enters.
// Bounded, and divided among those who fill it: a subject without room has no id, and whatever is
// about it must be rejected, never mixed with others; `dropped()` counts.
class SubjectTable {
 public:
  static constexpr std::size_t kLongestName = 256;  // bytes
  // Of all names: each is kept in several places, and all of them are saved at once.
  static constexpr std::size_t kMostBytes = std::size_t{8} << 20U;

  // In three eighths of it, what one folder gets, there is room for 10,000 ranks on as many GPUs of
  // 1,250 to 10,000 nodes.
  explicit SubjectTable(std::size_t max_subjects = 1U << 16U) : max_subjects_(max_subjects) {
    add({}, kNobody);
  }

  // nullopt: there is no room. A subject has an id only together with its scope keys.
  std::optional<SubjectId> intern(const Subject& subject) {
    if (const auto known = ids_.find(subject); known != ids_.end()) return known->second;
    if (Subject valid = with_valid_names(subject); valid != subject) return intern(valid);
    for (const Scope scope : {Scope::job, Scope::node, Scope::rank, Scope::gpu}) {
      if (const Subject key = project(subject, scope); key != subject && !intern(key))
        return std::nullopt;
    }
    const Room used{subjects_.size(), bytes_};
    if (!shares_.may_take({1, bytes_of(subject)}, used, {max_subjects_, kMostBytes})) {
      shares_.refuse();
      return std::nullopt;
    }
    return add(subject, shares_.holder());
  }
  // One of `old`, for whoever held it there, even if that is more than its share by now. Its scope
  // keys must be adopted, too.
  SubjectId adopt(const SubjectTable& old, SubjectId id) {
    const Subject& subject = old[id];
    const auto known = ids_.find(subject);
    return known != ids_.end() ? known->second
                               : add(subject, old.shares_.holder_of(static_cast<std::size_t>(id)));
  }

  // SubjectId::none if not known. Interning a subject interns its scope keys too.
  SubjectId find(const Subject& subject) const {
    const auto known = ids_.find(subject);
    return known == ids_.end() ? SubjectId::none : known->second;
  }

  const Subject& operator[](SubjectId id) const {
    assert(static_cast<std::size_t>(id) < subjects_.size());
    return subjects_[static_cast<std::size_t>(id)];
  }
  std::size_t size() const { return subjects_.size(); }
  std::uint64_t dropped() const { return shares_.refused(); }
  // For whom subjects are interned from now on.
  void set_holder(Holder holder) { shares_.set_holder(holder); }
  void set_limit(std::size_t max_subjects) { max_subjects_ = max_subjects; }
  std::size_t limit() const { return max_subjects_; }
  // With the limit and the counts of this one, and no subjects.
  SubjectTable emptied() const {
    SubjectTable empty(max_subjects_);
    empty.shares_.keep_refused(shares_);
    return empty;
  }

  // Ids keep their numbers: other saved state refers to them.
  void state(StateIo& io) {
    io(subjects_);
    shares_.state(io, subjects_.size(), [this](std::size_t i) { return bytes_of(subjects_[i]); });
    if (!io.is_loading()) return;
    ids_.clear();
    bytes_ = 0;
    for (std::size_t i = 0; i < subjects_.size(); ++i) {
      bytes_ += bytes_of(subjects_[i]);
      ids_.emplace(subjects_[i], static_cast<SubjectId>(i));
    }
  }

 private:
  static std::size_t bytes_of(const Subject& subject) {
    return subject.job.size() + subject.node.size() + subject.gpu.size();
  }
  static Subject with_valid_names(const Subject& subject) {
    Subject valid = subject;
    for (std::string* name : {&valid.job, &valid.node, &valid.gpu}) {
      if (name->size() > kLongestName || !is_valid_text(*name))
        *name = valid_name(*name, kLongestName);
    }
    return valid;
  }
  SubjectId add(const Subject& subject, Holder holder) {
    subjects_.push_back(subject);
    bytes_ += bytes_of(subject);
    shares_.add(holder, bytes_of(subject));
    const auto id = static_cast<SubjectId>(subjects_.size() - 1);
    ids_.emplace(subject, id);
    return id;
  }

  std::size_t max_subjects_;
  std::size_t bytes_ = 0;  // of all names
  Shares shares_;
  std::deque<Subject> subjects_;
  std::map<Subject, SubjectId> ids_;
};

}  // namespace trainwatch
