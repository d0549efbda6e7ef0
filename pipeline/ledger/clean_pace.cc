// SPDX-License-Identifier: Apache-2.0
#include "pipeline/ledger/clean_pace.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "trainwatch/stats/median.h"

namespace trainwatch {
namespace {

constexpr double kFromMad = 1.4826;        // to the standard deviation of a normal distribution
constexpr double kLasting = 0.03;          // of the clean pace: a change that lasts
constexpr double kOdd = 0.1;               // of the clean pace: a single iteration
constexpr double kSpreads = 4;             // that a single iteration must be above, logarithmically
constexpr double kNoWait = 0.01;           // of a step
constexpr double kAbout = 0.02;            // of the clean pace: the same level
constexpr std::uint32_t kRarePhases = 72;  // where a pause and work look alike

}  // namespace

double CleanPace::Ring::median(std::size_t newest) const {
  std::array<double, kKept> last{};
  const std::size_t n = std::min(newest, size());
  if (n == 0) return 0;
  for (std::size_t age = 1; age <= n; ++age) last[age - 1] = values[(added - age) % kKept];
  return median_in({last.data(), n});
}

void CleanPace::Ring::state(StateIo& io) {
  io(values);
  io(added);
}

CleanPace::Level CleanPace::level() const {
  Level level{recent_.median(kKept), 0};
  std::array<double, kKept> off{};
  const std::size_t n = recent_.size();
  for (std::size_t i = 0; i < n; ++i) off[i] = std::abs(recent_.values[i] - level.value);
  level.spread = n == 0 ? 0 : kFromMad * median_in({off.data(), n});
  return level;
}

void CleanPace::learn(double pace, bool enough) {
  recent_.add(pace);
  count_kind(pace);
  if (!known_) {
    if (!enough && recent_.size() < kNeeded) return;
    const Level first = level();
    clean_ = first.value;
    spread_ = first.spread;
    known_ = true;
  } else if (count_ % kKept == 0) {
    improve();
  }
}

// With a block of iterations of which none was looked at before.
void CleanPace::improve() {
  const Level block = level();
  const double near = std::max(kAbout * clean_, spread_ / 2);
  low_ = block.value < clean_ - near ? static_cast<std::uint8_t>(low_ + 1) : std::uint8_t{0};
  if (low_ == 2) {
    clean_ = block.value;
    spread_ = block.spread;
    blocks_ = 1;
    low_ = 0;
  } else if (std::abs(block.value - clean_) <= near && blocks_ < kBlocks) {
    ++blocks_;
    clean_ += (block.value - clean_) / blocks_;
    spread_ += (block.spread - spread_) / blocks_;
  }
}

double CleanPace::excess(double pace) const {
  const double more = pace - clean_;
  if (!known_ || more <= 0) return 0;
  const double relative = clean_ > 0 ? std::min(kSpreads * spread_ / clean_, 50.0) : 0;
  if (more > clean_ * std::max(kOdd, std::exp(relative) - 1)) return more;
  const bool lasting = recent_.size() >= kLate &&
                       recent_.median(kLate) - clean_ > std::max(kLasting * clean_, spread_);
  return lasting ? more : 0;
}

std::int32_t CleanPace::kind_of(double pace) {
  return static_cast<std::int32_t>(std::lround(std::log(std::max(pace, 1e-9)) * 10));
}

void CleanPace::count_kind(double pace) {
  ++count_;
  const std::int32_t kind = kind_of(pace);
  if (count_ <= kYoung) {
    Kind& known = kinds_[kind];
    ++known.seen;
    const bool came = count_ > 1 && std::abs(kind - kind_before_) > 1;
    if (came && known.comings < known.came.size()) {
      known.came[known.comings++] = static_cast<std::uint32_t>(count_);
    }
  }
  kind_before_ = kind;
}

bool CleanPace::is_natural(double pace, bool phases) const {
  const std::int32_t kind = kind_of(pace);
  std::array<std::uint32_t, 9> came{};
  std::size_t comings = 0;
  double seen = 0;
  for (std::int32_t near = kind - 1; near <= kind + 1; ++near) {
    const auto known = kinds_.find(near);
    if (known == kinds_.end()) continue;
    seen += known->second.seen;
    for (std::size_t i = 0; i < known->second.comings; ++i) came[comings++] = known->second.came[i];
  }
  if (comings < 3) return false;
  std::sort(came.begin(), came.begin() + static_cast<std::ptrdiff_t>(comings));
  if (came[2] > (phases ? kYoung : kRarePhases)) return false;
  if (came[0] > 1.5 * (came[2] - came[0])) return false;
  const double before = seen / static_cast<double>(std::min(count_, kYoung));
  const auto n = static_cast<double>(recent_.size());
  double now = 0;
  for (std::size_t i = 0; i < recent_.size(); ++i) {
    if (std::abs(kind_of(recent_.values[i]) - kind) <= 1) now += 1 / n;
  }
  return now <= before + 3 * std::sqrt(before * (1 - before) / n) + 2 / n;
}

void CleanPace::learn_wait(double wait, double step) {
  if (wait <= kNoWait * step) idle_.add(wait);
}

double CleanPace::usual_wait_of(double wait) const {
  return std::min(wait, idle_.median(kKept));
}

void CleanPace::remember(const Usual& parts) {
  if (!usual_) {
    usual_ = parts;
    return;
  }
  constexpr double kWeight = 1.0 / 16;
  usual_->blocked += (parts.blocked - usual_->blocked) * kWeight;
  usual_->work += (parts.work - usual_->work) * kWeight;
  usual_->gap += (parts.gap - usual_->gap) * kWeight;
}

void CleanPace::state(StateIo& io) {
  io(recent_);
  io(idle_);
  io(kinds_);
  io(usual_);
  io(count_);
  io(kind_before_);
  io(clean_);
  io(spread_);
  io(blocks_);
  io(low_);
  io(known_);
  if (kinds_.size() > kYoung || blocks_ == 0 || blocks_ > kBlocks || low_ > 2) io.fail();
  for (const auto& [kind, known] : kinds_) {
    if (known.comings > known.came.size()) io.fail();
  }
}

}  // namespace trainwatch
