// SPDX-License-Identifier: Apache-2.0
// What rules on scalars remember of each tag.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "trainwatch/condition.h"
#include "trainwatch/interner.h"
#include "trainwatch/scalar.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

// Where a tag has got to. A step that goes back is a new attempt, as after a resume from a
// checkpoint; the same step twice is not.
struct ScalarTrack {
  Symbol tag = Symbol::none;
  std::int64_t latest = -1;  // step; -1: none was said
  std::uint32_t attempt = 1;
  bool open = false;  // an alert was opened that may not have ended

  bool goes_back(const Scalar& scalar) const { return scalar.step >= 0 && scalar.step < latest; }
  void advance(const Scalar& scalar) {
    if (scalar.step >= 0) latest = scalar.step;
  }
  // The key of alerts about this tag. Their ids are made of it and of the step, never of the time
  // (alert_book.cc), so that it has the attempt.
  std::string key(const Interner& interner) const {
    std::string text(interner.text(tag));
    if (attempt > 1) text += " attempt " + std::to_string(attempt);
    return text;
  }

  // The condition does not hold.
  void clear(Time at, const Interner& interner, Verdicts& out) {
    if (!open) return;
    const std::string name = key(interner);
    out.clear(name, at);
    open = out.firings(name) > 0;
  }
  // What follows is of another attempt.
  void begin_attempt(Time at, Verdicts& out) {
    if (open) out.restarted(at);
    open = false;
    ++attempt;
  }

  bool possible() const { return latest >= -1 && attempt >= 1; }
  void state(StateIo& io) {
    io(tag);
    io(latest);
    io(attempt);
    io(open);
  }
};

// The track of this tag, made if new; null if there are `most` others.
template <class Track>
Track* track_of(std::vector<Track>& tracks, Symbol tag, std::size_t most) {
  const auto known = std::ranges::find(tracks, tag, &Track::tag);
  if (known != tracks.end()) return &*known;
  if (tracks.size() >= most) return nullptr;
  tracks.emplace_back();
  tracks.back().tag = tag;
  return &tracks.back();
}

}  // namespace trainwatch
