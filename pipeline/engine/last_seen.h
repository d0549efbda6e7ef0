// SPDX-License-Identifier: Apache-2.0
// When something was last heard of each subject and each series, in rounds whose length the owner
// decides. What is new counts as heard of.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "trainwatch/interner.h"

namespace trainwatch {

class LastSeen {
 public:
  // Without a word for more than so many rounds, a subject or series is silent.
  static constexpr std::uint32_t kPatience = 8;

  void saw(SubjectId id) { note(subjects_, static_cast<std::size_t>(id)); }
  void saw(SeriesId id) { note(series_, static_cast<std::size_t>(id)); }

  std::uint32_t round() const { return round_; }
  void next_round(const Interner& interner) {
    subjects_.resize(interner.subjects.size(), round_);
    series_.resize(interner.series.size(), round_);
    ++round_;
    changed_ = true;
  }

  // For a table of the engine's own, such as that of the files.
  bool is_silent(std::uint32_t seen_in) const { return round_ - seen_in > kPatience; }
  bool is_silent(SubjectId id) const { return is_silent(subjects_, static_cast<std::size_t>(id)); }
  bool is_silent(SeriesId id) const { return is_silent(series_, static_cast<std::size_t>(id)); }

  // Whether anything has changed since the last call.
  bool take_changed() { return std::exchange(changed_, false); }

  void state(StateIo& io) {
    io(round_);
    io.by_id<SubjectId>(subjects_);
    io.by_id<SeriesId>(series_);
  }

 private:
  [[gnu::always_inline]] void note(std::vector<std::uint32_t>& seen, std::size_t index) {
    if (index >= seen.size() || seen[index] != round_) renew(seen, index);  // nearly never
  }
  void renew(std::vector<std::uint32_t>& seen, std::size_t index) {
    if (index >= seen.size()) seen.resize(index + 1, round_);
    seen[index] = round_;
    changed_ = true;
  }
  bool is_silent(const std::vector<std::uint32_t>& seen, std::size_t index) const {
    return index < seen.size() && is_silent(seen[index]);
  }

  std::uint32_t round_ = 0;
  bool changed_ = true;
  std::vector<std::uint32_t> subjects_;  // by SubjectId
  std::vector<std::uint32_t> series_;    // by SeriesId
};

}  // namespace trainwatch
