// SPDX-License-Identifier: Apache-2.0
// When checkpoint files of each job were written. Unlike a span, a file names no rank and no end of
// its writing but the latest; what pause it belongs to is found by time.
//
// Bounded: the latest `kMostWrites`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trainwatch/event.h"
#include "trainwatch/interner.h"
#include "trainwatch/rule.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

struct CheckpointWrite {
  std::string directory;  // as jobs are named: the job of the root, and the path below the root
  Time created{};         // of the file; kNoTime: unknown
  Time written{};         // the last write

  void state(StateIo& io) {
    io(directory);
    io(created);
    io(written);
    if (!is_possible(created) || !is_possible(written)) io.fail();
  }
};

class CheckpointHistory final : public CheckpointActivity {
 public:
  static constexpr std::size_t kMostWrites = 4096;

  explicit CheckpointHistory(const Interner& interner) : interner_(interner) {}

  // In any order; the same again changes nothing.
  void on(CheckpointWrite write);

  // The writing during an iteration of the training, as a span of its rank: from the creation of
  // the first file, or from the beginning if an older file was written over, to the last write.
  std::optional<Span> during(const Step& step) const;

  Time latest(SubjectId rank, Time from, Time to) const override;

  // Whether on() changed anything since the last call.
  bool take_changed() { return std::exchange(changed_, false); }
  void state(StateIo& io);

 private:
  using Place = std::vector<CheckpointWrite>::const_iterator;

  Place after(Time time) const;  // the first that was written after it
  bool is_of(const CheckpointWrite& write, SubjectId rank) const;

  const Interner& interner_;
  std::vector<CheckpointWrite> writes_;  // by the time of writing
  bool changed_ = false;
};

}  // namespace trainwatch
