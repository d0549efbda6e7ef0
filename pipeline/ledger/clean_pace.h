// SPDX-License-Identifier: Apache-2.0
// The clean pace of one regime: how long a step takes (per unit of work, where a log has one) when
// everything that is known by name has been taken off.
//
// Learned from the first kNeeded iterations, their median, which forgives up to seven that are
// slow. The first blocks of kKept iterations make it better known; then it is frozen, or it would
// follow a creep. It falls when two blocks in a row are lower, and never rises: what was booked
// stays right as a lower bound of the loss.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "trainwatch/state_io.h"

namespace trainwatch {

// What a clean iteration consists of, in seconds.
struct UsualPhases {
  double blocked = 0;  // in phases where ranks wait for each other
  double work = 0;     // in other phases
  double gap = 0;      // in none
};

class CleanPace {
 public:
  static constexpr std::size_t kNeeded = 16;

  using Usual = UsualPhases;

  // Seconds per step and unit of work. `enough`: it has to do with what came so far.
  void learn(double pace, bool enough = false);
  bool known() const { return known_; }
  double clean() const { return clean_; }  // 0: not known
  // The same, or until it is known the median of what came so far.
  double so_far() const { return known_ ? clean_ : recent_.median(kNeeded); }
  // What is beyond the clean pace; 0 within the noise, of which it is full.
  double excess(double pace) const;
  // Longer steps that have come again and again from the start, no oftener now than then, are what
  // this job does: accumulation, two tasks. Without phases (`phases` false) a rare one may as well
  // be a pause, so three must have come early.
  bool is_natural(double pace, bool phases) const;
  // Of a step of `step` seconds.
  void learn_wait(double wait, double step);
  // The part of a wait that nobody would mind.
  double usual_wait_of(double wait) const;
  // A clean iteration consisted of this.
  void remember(const Usual& parts);
  const std::optional<Usual>& usual() const { return usual_; }

  void state(StateIo& io);

 private:
  static constexpr std::size_t kKept = 31;
  static constexpr std::size_t kLate = 15;
  static constexpr std::uint64_t kYoung = 192;
  static constexpr std::uint8_t kBlocks = 8;

  // The last kKept values.
  struct Ring {
    std::array<double, kKept> values{};
    std::uint64_t added = 0;
    void add(double value) { values[added++ % kKept] = value; }
    std::size_t size() const { return added < kKept ? static_cast<std::size_t>(added) : kKept; }
    double median(std::size_t newest) const;
    void state(StateIo& io);
  };
  struct Level {
    double value = 0;
    double spread = 0;  // 1.4826 * MAD
  };
  // Steps of one length, within 10 %, while the job is young.
  struct Kind {
    std::uint32_t seen = 0;
    std::uint8_t comings = 0;  // from another kind
    std::array<std::uint32_t, 3> came{};
  };

  static std::int32_t kind_of(double pace);
  void count_kind(double pace);
  Level level() const;
  void improve();

  Ring recent_;
  Ring idle_;  // waits that nobody would mind
  std::map<std::int32_t, Kind> kinds_;
  std::optional<Usual> usual_;
  std::uint64_t count_ = 0;
  std::int32_t kind_before_ = 0;
  double clean_ = 0;
  double spread_ = 0;
  std::uint8_t blocks_ = 1;
  std::uint8_t low_ = 0;  // blocks in a row that were
  bool known_ = false;
};

}  // namespace trainwatch
