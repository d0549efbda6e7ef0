// SPDX-License-Identifier: Apache-2.0
// The time from one fetch of a batch to the next of the same process, and what the system and the
// framework did while it was long.
#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "pipeline/analysis/core/system_history.h"
#include "pipeline/analysis/per_rank.h"
#include "pipeline/analysis/sagemaker/loader_calls.h"
#include "trainwatch/analysis.h"
#include "trainwatch/event.h"
#include "trainwatch/state_io.h"

namespace trainwatch {
namespace {

// What the system and the framework did in each of some intervals of ranks: usage of the node, and
// how long each framework metric was active. What is read after an interval was remembered counts
// as what was read before: the last kRecent spans of the rank, and what SystemHistory has.
class IntervalContexts {
 public:
  static constexpr std::size_t kRecent = 512;         // of a rank,
  static constexpr std::size_t kAllRecent = 131'072;  // and of all together
  static constexpr std::size_t kIntervals = 128;
  static constexpr std::size_t kMetrics = 64;  // of an interval
  static constexpr std::size_t kHistoryRows = 4096;

  struct Interval {
    SubjectId rank = SubjectId::none;
    Time start{};
    Time end{};
    auto operator<=>(const Interval&) const = default;
  };
  using Active = std::pair<Symbol, Nanos>;

  explicit IntervalContexts(const Interner& interner)
      : interner_(interner), system_(interner, kHistoryRows), ranks_(interner) {}

  void on(const Sample& sample);
  void on(const Span& span);

  void remember(const Interval& interval);
  void forget(const Interval& interval) { contexts_.erase(interval); }

  SystemUsage usage(const Interval& interval) const;
  // The longest first; empty for what is not remembered.
  std::vector<Active> activity(const Interval& interval) const;

  void state(StateIo& io);

 private:
  struct Recent {
    Time start{};
    Nanos duration{};
    Symbol metric = Symbol::none;
  };
  struct Context {
    std::optional<SystemUsage> usage;  // when all samples up to the end were read
    std::map<Symbol, Nanos> active;

    void add(const Interval& interval, const Recent& span);
    void state(StateIo& io);
  };

  struct Rank {
    std::deque<Recent> recent;
    Time last_end = kNoTime;  // of its intervals: what begins later is in none of them
  };

  void note_usage();

  const Interner& interner_;
  SystemHistory system_;
  PerRank<Rank> ranks_;
  std::map<Interval, Context> contexts_;
  std::uint32_t samples_ = 0;  // since usages were noted
  bool open_ = false;          // an interval has no usage yet
};

constexpr std::uint32_t kNoteEvery = 256;  // samples

void usage_state(StateIo& io, SystemUsage& usage) {
  io(usage.cpu);
  io(usage.busiest_core);
  io(usage.io_wait);
  io(usage.gpu);
}

void IntervalContexts::Context::add(const Interval& interval, const Recent& span) {
  const Time start = std::max(interval.start, span.start);
  const Time end = std::min(interval.end, span.start + span.duration);
  if (end <= start) return;
  const auto known = active.find(span.metric);
  if (known != active.end()) {
    known->second += end - start;
  } else if (active.size() < kMetrics) {
    active.emplace(span.metric, end - start);
  }
}

void IntervalContexts::Context::state(StateIo& io) {
  bool noted = usage.has_value();
  io(noted);
  if (io.is_loading()) usage = noted ? std::optional(SystemUsage{}) : std::nullopt;
  if (usage) usage_state(io, *usage);
  io(active);
}

void IntervalContexts::on(const Sample& sample) {
  system_.on(sample);
  if (open_ && ++samples_ >= kNoteEvery) note_usage();
}

void IntervalContexts::on(const Span& span) {
  if (span.kind == SpanKind::step) return;  // lying in a step explains nothing
  const auto trim = [this](Rank& rank) {
    const std::size_t most = ranks_.share(kRecent, kAllRecent);
    while (rank.recent.size() > most) rank.recent.pop_front();
  };
  Rank* const rank = ranks_.of(span.subject, trim);
  if (rank == nullptr) return;
  rank->recent.push_back({span.start, span.duration, span.metric()});
  trim(*rank);
  if (span.start >= rank->last_end) return;
  for (auto own = contexts_.lower_bound({.rank = span.subject, .start = kNoTime});
       own != contexts_.end() && own->first.rank == span.subject; ++own) {
    own->second.add(own->first, rank->recent.back());
  }
}

void IntervalContexts::remember(const Interval& interval) {
  if (contexts_.size() == kIntervals || contexts_.contains(interval)) return;
  Context& context = contexts_[interval];
  open_ = true;
  if (system_.passed(interval.rank, interval.end)) note_usage();
  Rank* const rank = ranks_.of(interval.rank);
  if (rank == nullptr) return;
  rank->last_end = std::max(rank->last_end, interval.end);
  for (const Recent& span : rank->recent) context.add(interval, span);
}

// Before its seconds are forgotten.
void IntervalContexts::note_usage() {
  samples_ = 0;
  open_ = false;
  for (auto& [interval, context] : contexts_) {
    if (context.usage) continue;
    if (system_.passed(interval.rank, interval.end)) {
      context.usage = system_.usage(interval.rank, interval.start, interval.end);
    } else {
      open_ = true;
    }
  }
}

SystemUsage IntervalContexts::usage(const Interval& interval) const {
  const auto known = contexts_.find(interval);
  if (known != contexts_.end() && known->second.usage) return *known->second.usage;
  return system_.usage(interval.rank, interval.start, interval.end);
}

std::vector<IntervalContexts::Active> IntervalContexts::activity(const Interval& interval) const {
  const auto known = contexts_.find(interval);
  if (known == contexts_.end()) return {};
  const auto& active = known->second.active;
  std::vector<Active> longest(active.begin(), active.end());
  std::sort(longest.begin(), longest.end(), [&](const Active& a, const Active& b) {
    return std::tuple(b.second, interner_.text(a.first)) <
           std::tuple(a.second, interner_.text(b.first));
  });
  return longest;
}

void IntervalContexts::state(StateIo& io) {
  system_.state(io);
  ranks_.state(io, [&](Rank& rank) {
    io(rank.recent);
    io(rank.last_end);
    if (rank.recent.size() > kRecent) io.fail();
    for (const Recent& span : rank.recent) {
      if (!is_known(interner_, span.metric)) io.fail();
    }
  });
  auto count = static_cast<std::uint32_t>(contexts_.size());
  io(count);
  if (count > kIntervals) io.fail();
  if (io.is_loading()) contexts_.clear();
  auto known = contexts_.begin();
  for (std::uint32_t i = 0; i < count && io.ok(); ++i) {
    Interval interval = io.is_loading() ? Interval{} : known->first;
    io(interval.rank);
    io(interval.start);
    io(interval.end);
    if (!is_known(interner_, interval.rank)) io.fail();
    Context unused;
    const bool gone = io.take_gone();
    Context& context = gone ? unused : io.is_loading() ? contexts_[interval] : known->second;
    context.state(io);
    if (context.active.size() > kMetrics) io.fail();
    for (const auto& [metric, time] : context.active) {
      if (!is_known(interner_, metric)) io.fail();
    }
    if (!io.is_loading()) ++known;
  }
  io(samples_);
  io(open_);
}

constexpr std::size_t kMaxProcesses = 4096;

class Batchtime final : public Analysis {
 public:
  explicit Batchtime(const Interner& interner) : interner_(interner), contexts_(interner) {}

  void on_sample(const Sample& sample) override { contexts_.on(sample); }

  void on_span(const Span& span) override {
    if (span.origin != Origin::timeline) return;
    contexts_.on(span);
    if (span.kind != SpanKind::data_wait) return;
    const std::string_view name = interner_.text(span.name);
    if (name.find(kTorchGetNext) != std::string_view::npos) add(span);
  }

  void state(StateIo& io) override {
    io(last_start_);
    batches_.state(io, interner_);
    io(contexts_);
    if (last_start_.size() > kMaxProcesses) io.fail();
  }

  Figures figures() const override {
    Figures out;
    const LoaderCalls::Summary summary = batches_.summary();
    out.add("count", batches_.count()).add("median_us", summary.median);
    out.add("max_us", summary.max).add("outlier_count", summary.outliers);
    add_outliers(out.group("outliers"), summary);
    add_activity(out.group("outlier_activity"), summary);
    return out;
  }

 private:
  using Key = std::pair<SubjectId, std::int64_t>;  // and the operating system's pid

  static IntervalContexts::Interval interval_of(const LoaderCalls::Call& batch) {
    return {batch.subject, batch.before, batch.start};
  }
  static double percent(const std::optional<double>& value) {
    return value.value_or(std::nan(""));  // shown as null
  }

  void add(const Span& call) {
    const Key key{call.subject, call.process};
    const auto before = last_start_.find(key);
    if (before == last_start_.end()) {
      if (last_start_.size() < kMaxProcesses) last_start_.emplace(key, call.start);
      return;
    }
    const LoaderCalls::Call batch{call.start, call.start - before->second, before->second,
                                  call.worker, call.subject};
    before->second = call.start;
    const LoaderCalls::Change change = batches_.add(batch);
    if (change.forgotten) contexts_.forget(interval_of(*change.forgotten));
    if (change.remembered) contexts_.remember(interval_of(batch));
  }

  void add_outliers(Figures& out, const LoaderCalls::Summary& summary) const {
    FigureTable& table =
        out.table({"previous_batch_start_us", "start_time_us", "batch_time_us", "worker_id",
                   "nodeID", "cpu_%", "busiest_core_%", "io_wait_%", "gpu_%"});
    batches_.each_outlier(summary, [&](const LoaderCalls::Call& batch) {
      const SystemUsage usage = contexts_.usage(interval_of(batch));
      table.row(to_us(batch.before), to_us(batch.start), to_us(batch.duration), batch.worker,
                rank_name(interner_, batch.subject), percent(usage.cpu),
                percent(usage.busiest_core), percent(usage.io_wait), percent(usage.gpu));
    });
  }

  void add_activity(Figures& out, const LoaderCalls::Summary& summary) const {
    FigureTable& table = out.table(
        {"previous_batch_start_us", "start_time_us", "nodeID", "framework_metric", "active_us"});
    batches_.each_outlier(summary, [&](const LoaderCalls::Call& batch) {
      for (const auto& [metric, time] : contexts_.activity(interval_of(batch))) {
        table.row(to_us(batch.before), to_us(batch.start), rank_name(interner_, batch.subject),
                  interner_.text(metric), to_us(time));
      }
    });
  }

  const Interner& interner_;
  std::map<Key, Time> last_start_;
  LoaderCalls batches_;
  IntervalContexts contexts_;
};

}  // namespace

const AnalysisSpec& batchtime_analysis() {
  static const AnalysisSpec spec = make_spec<Batchtime>(
      {.name = "batchtime",
       .summary = "The time between batches of a PyTorch loader, and what went on in the long ones",
       .samples = every_resource(),
       .spans = every_span_kind()});
  return spec;
}

}  // namespace trainwatch
