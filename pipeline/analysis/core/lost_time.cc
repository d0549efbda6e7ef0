#include "pipeline/analysis/core/lost_time.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

#include "pipeline/analysis/core/metric_families.h"
#include "pipeline/analysis/table_cells.h"

namespace trainwatch {
namespace {

constexpr auto kStretch = std::chrono::seconds(10);
constexpr auto kPatience = std::chrono::seconds(60);  // for samples that may not come
constexpr double kAlone = 1.0;         // seconds lost by one iteration that is explained on its own
constexpr double kWorthAsking = 0.02;  // of a stretch; less is put down to what it looks like
constexpr double kUsualWait = 1.0 / 64;  // the weight of a new iteration

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

// To change it.
LostTime::Rank* LostTime::rank_of(SubjectId subject) {
  if (ranks_.size() == kMaxRanks && ranks_.find(subject) == nullptr) return nullptr;
  auto& entry = ranks_.entry(subject);
  changed_.add(entry);
  return &entry.second;
}

void LostTime::on(const Step& step) {
  if (step.origin == Origin::profiler || !step.is_training()) return;  // its cycle says more
  Rank* const rank = rank_of(step.subject);
  if (rank == nullptr) return;
  const double took = to_seconds(step.iteration());
  if (took <= 0) return;
  const double steps = step.steps;  // that it stands for
  const Time begin =
      step.origin == Origin::log ? step.end() - step.iteration() * step.steps : step.begin;
  rank->timeline.elapsed += steps * took;
  const double wait = std::min(to_seconds(step.data_wait), took);
  double other = 0;
  if (step.pace.warm()) {
    const bool changed = step.pace.reference > 0;
    const double usual = changed ? step.pace.reference : step.pace.usual;
    const double working = std::max(usual - rank->usual_wait, 0.0);
    if (changed || took > step.pace.limit) other = std::max(took - wait - working, 0.0);
  }
  if (other == 0) rank->usual_wait += kUsualWait * (wait - rank->usual_wait);
  const bool alone = steps * (wait + other) >= kAlone;
  Stretch& stretch = rank->stretch;
  const bool apart = begin < stretch.start || begin - stretch.start >= kStretch;
  if (stretch.lost() > 0 && (alone || apart)) close(*rank);
  if (stretch.lost() == 0) {
    stretch.start = begin;
    stretch.first_end = step.end();
  }
  stretch.rank = step.subject;
  stretch.origin = step.origin;
  stretch.end = step.end();
  stretch.wait += steps * wait;
  stretch.other += steps * other;
  if (alone) close(*rank);
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

void LostTime::close(Rank& rank) {
  if (pending_.size() == kMaxPending) {
    explain(pending_.front());
    pending_.pop_front();
  }
  pending_.push_back(std::exchange(rank.stretch, {}));
  pending_changed_ = true;
}

void LostTime::settle(Time latest, bool all) {
  if (all) {
    for (auto& entry : ranks_) {
      if (entry.second.stretch.lost() <= 0) continue;
      changed_.add(entry);
      close(entry.second);
    }
  }
  std::erase_if(pending_, [&](const Stretch& stretch) {
    Verdict verdict;
    verdict.window_end = stretch.end;
    const bool known =
        all || latest - stretch.end > kPatience || attribution_.settled(verdict, stretch.rank);
    if (known) explain(stretch);
    pending_changed_ = pending_changed_ || known;
    return known;
  });
}

void LostTime::explain(const Stretch& stretch) {
  Rank* const rank = rank_of(stretch.rank);
  assert(rank != nullptr);  // it has had steps
  Account& account = rank->timeline;
  const auto lose = [&](CauseName own, double seconds) {
    if (seconds <= 0) return;
    const CauseName cause = cause_of(stretch, seconds, own);
    this->lose(account, {stretch.rank, stretch.origin, stretch.start, stretch.first_end,
                         stretch.end, cause, seconds});
  };
  lose(CauseName::input_wait, stretch.wait);
  lose(CauseName::unattributed, stretch.other);
}

void LostTime::lose(Account& account, const LostInterval& interval) {
  account.add(interval.cause, interval.seconds);
  if (explained_.size() < kMostExplained) explained_.push_back(interval);
}

CauseName LostTime::cause_of(const Stretch& stretch, double lost, CauseName own) const {
  if (lost < kWorthAsking * to_seconds(stretch.end - stretch.start)) return own;
  Verdict verdict;
  verdict.window_start = stretch.start;
  verdict.window_end = stretch.end;
  verdict.window_lost_seconds = lost;
  verdict.cause.name = own;
  verdict.cause.coverage = own == CauseName::unattributed ? 0 : 1;
  return attribution_.explain(verdict, stretch.rank).name;
}

const LostTime::Account* LostTime::account(SubjectId rank) const {
  const Rank* const known = ranks_.find(rank);
  if (known == nullptr) return nullptr;
  return known->timeline.elapsed > 0 ? &known->timeline : &known->cycles;
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
    const Account& shown = *account(subject);
    training.points.push_back({own, shown.elapsed, {}, 0});
    for (const CauseName cause : kShown) {
      lost.points.push_back({with(own, "cause", to_string(cause)), shown.of(cause), {}, 0});
    }
  }
  out.push_back(std::move(lost));
  out.push_back(std::move(training));
}

void LostTime::Stretch::state(StateIo& io) {
  io(rank);
  io(origin);
  io(start);
  io(first_end);
  io(end);
  io(wait);
  io(other);
  if (origin >= Origin::count_) io.fail();
  if (!is_possible(start) || !is_possible(first_end) || !is_possible(end)) io.fail();
}

void LostTime::Rank::state(StateIo& io) {
  io(timeline);
  io(cycles);
  io(stretch);
  io(usual_wait);
}

void LostTime::pending_state(StateIo& io) {
  io(pending_);
  if (pending_.size() > kMaxPending) io.fail();
  for (const Stretch& stretch : pending_) {
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
