// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/core/lost_time.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

#include "pipeline/analysis/core/metric_families.h"
#include "pipeline/analysis/table_cells.h"

namespace trainwatch {
namespace {

constexpr auto kPatience = std::chrono::seconds(60);  // for samples that may not come
constexpr double kWorthAsking = 0.02;  // of a stretch; less is put down to what it looks like

constexpr std::string_view kLostPendingRow = "lost_time";
constexpr std::string_view kLostRankRows = "lost_time/";

// Those that are known to be lost by timelines and by profiler cycles.
constexpr CauseName kShown[] = {CauseName::input_wait,     CauseName::io_wait,
                                CauseName::cpu_saturation, CauseName::host_pause,
                                CauseName::checkpoint,     CauseName::synchronization,
                                CauseName::kernel_launch,  CauseName::communication,
                                CauseName::memory_copy,    CauseName::unattributed};

}  // namespace

double LostTime::Account::total() const {
  return std::accumulate(lost.begin(), lost.end(), 0.0);
}

LostTime::Account& LostTime::Account::operator+=(const Account& other) {
  elapsed += other.elapsed;
  for (std::size_t i = 0; i < lost.size(); ++i) lost[i] += other.lost[i];
  return *this;
}

LostTime::Account& LostTime::Account::operator/=(double divisor) {
  elapsed /= divisor;
  for (double& seconds : lost) seconds /= divisor;
  return *this;
}

// To change it.
LostTime::Rank* LostTime::rank_of(SubjectId subject) {
  if (ranks_.size() == kMaxRanks && ranks_.find(subject) == nullptr) return nullptr;
  auto& entry = ranks_.entry(subject);
  changed_.add(entry);
  return &entry.second;
}

// Of profiled steps, their cycle says more.
bool LostTime::counts(const Step& step) {
  return step.origin != Origin::profiler && step.is_training() && step.iteration() > Nanos{};
}

void LostTime::on(const Step& step) {
  if (!counts(step)) return;
  Rank* const rank = rank_of(step.subject);
  if (rank == nullptr) return;
  rank->timeline.elapsed += LostStretches::seconds(step);
  rank->iterations.on(step, ended_);
  for (const LostStretch& stretch : ended_) put_off(stretch);
  ended_.clear();
}

void LostTime::on(const CycleSummary& cycle) {
  if (cycle.activities == 0) return;
  Rank* const rank = rank_of(cycle.subject);
  if (rank == nullptr) return;
  const auto lose = [&](CauseName cause, std::int64_t ns) {
    const double seconds = static_cast<double>(ns) / 1e9;
    if (seconds <= 0) return;
    const Time start = time_from_ns(cycle.steps.front().start_ns);
    const Time first_end = time_from_ns(cycle.steps.front().end_ns());
    const Time end = time_from_ns(cycle.end_ns());
    this->lose(rank->cycles,
               {cycle.subject, Origin::profiler, start, first_end, end, cause, seconds});
  };
  rank->cycles.elapsed += static_cast<double>(cycle.step_ns()) / 1e9;
  lose(CauseName::input_wait, cycle.idle(IdleReason::data_wait));
  lose(CauseName::host_pause, cycle.idle(IdleReason::host_pause));
  lose(CauseName::synchronization, cycle.idle(IdleReason::synchronization));
  lose(CauseName::kernel_launch, cycle.idle(IdleReason::launch));
  lose(CauseName::unattributed, cycle.idle(IdleReason::queued));
  lose(CauseName::communication, cycle.sum(&StepSummary::exposed_communication_ns));
  lose(CauseName::memory_copy, cycle.sum(&StepSummary::exposed_memory_ns));
}

void LostTime::put_off(const LostStretch& stretch) {
  if (pending_.size() == kMaxPending) {
    explain(pending_.front());
    pending_.pop_front();
  }
  pending_.push_back(stretch);
  pending_changed_ = true;
}

void LostTime::settle(Time latest, bool all) {
  if (all) {
    for (auto& entry : ranks_) {
      if (entry.second.iterations.open().lost() <= 0) continue;
      changed_.add(entry);
      put_off(entry.second.iterations.take_open());
    }
  }
  std::erase_if(pending_, [&](const LostStretch& stretch) {
    Verdict verdict;
    verdict.window_end = stretch.end;
    const bool known =
        all || latest - stretch.end > kPatience || attribution_.settled(verdict, stretch.rank);
    if (known) explain(stretch);
    pending_changed_ = pending_changed_ || known;
    return known;
  });
}

// Calls `lose` with what the stretch lost, by cause.
template <class Lose>
void LostTime::explain(const LostStretch& stretch, Lose&& lose) const {
  const auto lost = [&](CauseName own, double seconds) {
    if (seconds <= 0) return;
    lose(LostInterval{stretch.rank, stretch.origin, stretch.start, stretch.first_end, stretch.end,
                      cause_of(stretch, seconds, own), seconds});
  };
  lost(CauseName::input_wait, stretch.wait);
  lost(CauseName::unattributed, stretch.other);
}

void LostTime::explain(const LostStretch& stretch) {
  Rank* const rank = rank_of(stretch.rank);
  assert(rank != nullptr);  // it has had steps
  explain(stretch, [&](const LostInterval& interval) { lose(rank->timeline, interval); });
}

void LostTime::lose(Account& account, const LostInterval& interval) {
  account.add(interval.cause, interval.seconds);
  if (explained_.size() < kMostExplained) explained_.push_back(interval);
}

CauseName LostTime::cause_of(const LostStretch& stretch, double lost, CauseName own) const {
  if (lost < kWorthAsking * to_seconds(stretch.end - stretch.start)) return own;
  Verdict verdict;
  verdict.window_start = stretch.start;
  verdict.window_end = stretch.end;
  verdict.window_lost_seconds = lost;
  verdict.cause.name = own;
  verdict.cause.coverage = own == CauseName::unattributed ? 0 : 1;
  return attribution_.explain(verdict, stretch.rank).name;
}

void LostTime::foresee(const LostStretch& stretch, Outstanding& to) const {
  explain(stretch, [&to](const LostInterval& interval) {
    to.accounts[interval.rank].add(interval.cause, interval.seconds);
    to.lost.push_back(interval);
  });
}

LostTime::Outstanding LostTime::outstanding() const {
  Outstanding found;
  for (const LostStretch& stretch : pending_) foresee(stretch, found);
  for (const auto& [subject, rank] : ranks_) foresee(rank.iterations.open(), found);
  return found;
}

void LostTime::add(std::span<const Step> steps, Outstanding& to) const {
  const SubjectId subject = steps.front().subject;
  const Rank* const known = ranks_.find(subject);
  if (known == nullptr && std::max(ranks_.size(), to.accounts.size()) >= kMaxRanks) return;
  LostStretches iterations = known == nullptr ? LostStretches() : known->iterations.next();
  std::vector<LostStretch> ended;
  double elapsed = 0;
  for (const Step& step : steps) {
    if (!counts(step)) continue;
    elapsed += LostStretches::seconds(step);
    iterations.on(step, ended);
  }
  if (elapsed == 0) return;
  to.accounts[subject].elapsed += elapsed;
  for (const LostStretch& stretch : ended) foresee(stretch, to);
  foresee(iterations.open(), to);
}

std::optional<LostTime::Account> LostTime::account(SubjectId rank, const Outstanding& with) const {
  const Rank* const known = ranks_.find(rank);
  const Account* const more = with.accounts.find(rank);
  if (more == nullptr) return known == nullptr ? std::nullopt : std::optional(known->account());
  Account sum = known == nullptr ? Account() : known->timeline;
  return sum += *more;
}

void LostTime::collect(std::vector<MetricFamily>& out) const {
  MetricFamily lost =
      family("trainwatch_lost_gpu_seconds_total",
             "Training time lost, by cause: of timelines and logs waits and what takes longer "
             "than usual; otherwise time in profiled steps without computation.",
             MetricType::counter);
  MetricFamily training = family(
      "trainwatch_training_seconds_total",
      "Training time of which trainwatch_lost_gpu_seconds_total is a part.", MetricType::counter);
  for (const auto& [subject, rank] : ranks_) {
    const Labels own = labels_of(interner_, subject);
    const Account& shown = rank.account();
    training.points.push_back({own, shown.elapsed, {}, 0});
    for (const CauseName cause : kShown) {
      lost.points.push_back({with(own, "cause", to_string(cause)), shown.of(cause), {}, 0});
    }
  }
  out.push_back(std::move(lost));
  out.push_back(std::move(training));
}

void LostTime::Rank::state(StateIo& io) {
  io(timeline);
  io(cycles);
  io(iterations);
}

void LostTime::pending_state(StateIo& io) {
  io(pending_);
  if (pending_.size() > kMaxPending) io.fail();
  for (const LostStretch& stretch : pending_) {
    if (!ranks_.contains(stretch.rank)) io.fail();
  }
}

void LostTime::save(StateRows& rows, bool all) {
  if (std::exchange(pending_changed_, false) || all) {
    rows.put(std::string(kLostPendingRow), [this](StateIo& io) { pending_state(io); });
  }
  changed_.take(ranks_, all, [&rows](auto& entry) {
    rows.put(id_row(kLostRankRows, entry.first), [&entry](StateIo& io) { io(entry.second); });
  });
}

bool LostTime::load(const SavedState& saved) {
  const auto load_rank = [&](std::string_view digits, std::string_view value) {
    const auto rank = saved.subject(digits);
    if (!rank) return true;
    StateIo io = saved.open(value);
    io(ranks_[*rank]);
    return io.complete() && ranks_.size() <= kMaxRanks;
  };
  return for_rows(saved, kLostRankRows, load_rank) &&
         load_row(saved, kLostPendingRow, [this](StateIo& io) { pending_state(io); });
}

}  // namespace trainwatch
