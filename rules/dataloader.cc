// SPDX-License-Identifier: Apache-2.0
// Too few or too many processes load data for the cores of the node; SageMaker's Dataloader, see
// docs/rules/dataloader.md.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rules/format.h"
#include "trainwatch/event.h"
#include "trainwatch/json_writer.h"
#include "trainwatch/rule.h"
#include "trainwatch/state_io.h"
#include "trainwatch/stats/sorted_window.h"

namespace trainwatch::dataloader {
namespace {

// Counts the data loading processes of a node, second by second. The ranks of a node write their
// own files, read one after another: a second is counted when all ranks are past it.
class Seconds {
 public:
  struct Count {
    std::int64_t second = 0;  // unix time
    std::size_t processes = 0;
  };

  // False: the span comes too late to be counted, or there are too many ranks or processes.
  bool add(const Span& span) {
    const std::int64_t second = second_of(span.start);
    Rank* rank = rank_of(span.subject, second);
    if (rank == nullptr) return false;
    rank->newest = std::max(rank->newest, second);
    if (first_ == kNever) first_ = second;
    if (second <= counted_) return false;
    const auto place = std::ranges::lower_bound(pending_, second, {}, &Pending::second);
    const bool known = place != pending_.end() && place->second == second;
    Pending& entry = known ? *place : *pending_.insert(place, Pending{second, {}});
    const Process process{span.subject, span.process};
    const bool fits = entry.processes.size() < kMaxProcesses;
    if (fits && std::ranges::find(entry.processes, process) == entry.processes.end()) {
      entry.processes.push_back(process);
    }
    if (pending_.size() > kMaxPending) pending_.pop_front();
    return fits;
  }

  // The oldest complete second, once.
  std::optional<Count> take() {
    if (pending_.empty() || pending_.front().second > complete_to()) return std::nullopt;
    const Count count{pending_.front().second, pending_.front().processes.size()};
    counted_ = count.second;
    pending_.pop_front();
    return count;
  }

  void state(StateIo& io) {
    io(first_);
    io(counted_);
    io(ranks_);
    io(pending_);
    if (ranks_.size() > kMaxRanks || pending_.size() > kMaxPending + 1 ||
        !std::ranges::is_sorted(pending_, {}, &Pending::second)) {
      io.fail();
    }
  }

 private:
  static constexpr std::int64_t kNever = INT64_MIN / 2;
  static constexpr std::int64_t kDisorder = 5;  // seconds that the spans of a rank may be unordered
  // A rank this many seconds behind the others is not waited for. This long after the first span,
  // all ranks of the node are assumed to be known, since their files are about a minute long.
  static constexpr std::int64_t kWaited = 120;
  static constexpr std::size_t kMaxRanks = 256;
  static constexpr std::size_t kMaxProcesses = 4096;
  static constexpr std::size_t kMaxPending = 1024;

  using Process = std::pair<SubjectId, std::int64_t>;
  struct Pending {
    std::int64_t second = 0;
    std::vector<Process> processes;
  };
  struct Rank {
    SubjectId subject{};
    std::int64_t newest = 0;
  };

  static std::int64_t second_of(Time time) {
    return std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
  }

  Rank* rank_of(SubjectId subject, std::int64_t second) {
    const auto known = std::ranges::find(ranks_, subject, &Rank::subject);
    if (known != ranks_.end()) return &*known;
    if (ranks_.size() >= kMaxRanks) return nullptr;
    return &ranks_.emplace_back(Rank{subject, second});
  }

  std::int64_t complete_to() const {
    std::int64_t newest = kNever;
    for (const Rank& rank : ranks_) newest = std::max(newest, rank.newest);
    if (newest - first_ < kWaited) return kNever;
    std::int64_t slowest = newest;
    for (const Rank& rank : ranks_) {
      if (newest - rank.newest <= kWaited) slowest = std::min(slowest, rank.newest);
    }
    return slowest - kDisorder;
  }

  std::int64_t first_ = kNever;
  std::int64_t counted_ = kNever;
  std::vector<Rank> ranks_;
  std::deque<Pending> pending_;  // by second
};

constexpr std::size_t kWindow = 1000;  // seconds
constexpr std::size_t kMaxCores = 4096;

struct Params {
  double min_threshold = 70;
  double max_threshold = 200;
  std::int64_t patience = 10;
  std::int64_t recovery_seconds = 20;
};

enum class Reason : std::uint8_t { none, too_few, too_many };

std::string_view name_of(Reason reason) {
  return reason == Reason::too_many ? "too_many" : "too_few";
}

// The cores of a node: those that are sampled before one of them is sampled again.
class Cores {
 public:
  void add(std::uint32_t core) {
    if (known_) return;
    const bool again = std::ranges::find(cores_, core) != cores_.end();
    if (again || cores_.size() >= kMaxCores) {
      known_ = true;
    } else {
      cores_.push_back(core);
    }
  }
  bool known() const { return known_; }
  std::size_t count() const { return cores_.size(); }

  void state(StateIo& io) {
    io(cores_);
    io(known_);
    if (cores_.size() > kMaxCores || (known_ && cores_.empty())) io.fail();
  }

 private:
  std::vector<std::uint32_t> cores_;
  bool known_ = false;
};

class Dataloader final : public Rule {
 public:
  Dataloader(const Params& params, const RuleContext& context)
      : params_(params), interner_(context.interner) {}

  void on_sample(const Sample& sample, Verdicts& out) override {
    if (cores_.known()) return;
    cores_.add(interner_.series[sample.series].device);
    judge_complete(out);
  }

  void on_span(const Span& span, Verdicts& out) override {
    if (!of_loader(span)) return;
    seconds_.add(span);
    judge_complete(out);
  }
  void state(StateIo& io) override {
    io(cores_);
    io(seconds_);
    io(processes_);
    io(seen_);
  }

  Lifecycle lifecycle() const override {
    return {.recover_after = params_.recovery_seconds,
            .change = Lifecycle::Change::points,
            .min_change = 1,  // process
            .one_at_a_time = true};
  }
  bool warming() const override { return seen_ <= static_cast<std::uint64_t>(params_.patience); }

 private:
  // The seconds that are complete now.
  void judge_complete(Verdicts& out) {
    while (cores_.known()) {
      const auto count = seconds_.take();
      if (!count) break;
      processes_.push(static_cast<double>(count->processes));
      ++seen_;
      if (!warming()) judge(end_of(count->second), out);
    }
  }

  static Time end_of(std::int64_t second) { return Time{std::chrono::seconds(second + 1)}; }

  // Does not count TensorFlow's iterators, which are threads of one process, and profiler traces,
  // which repeat what a timeline has.
  bool of_loader(const Span& span) const {
    if (span.process < 0 || span.origin != Origin::timeline) return false;
    return span.kind == SpanKind::data_worker ||
           interner_.text(span.phase).starts_with("DataLoader");
  }

  double processes() const { return std::floor(processes_.median()); }
  double fewest() const {
    return static_cast<double>(cores_.count()) * params_.min_threshold / 100;
  }
  double most() const { return static_cast<double>(cores_.count()) * params_.max_threshold / 100; }
  Reason reason() const {
    if (processes() < fewest()) return Reason::too_few;
    return processes() > most() ? Reason::too_many : Reason::none;
  }

  void judge(Time at, Verdicts& out) const {
    const Reason now = reason();
    if (now == Reason::none) return out.clear_all(at);
    out.fires({.key = name_of(now), .at = at, .severity = Severity::info, .figure = processes()},
              [&] { return describe(now); });
  }

  Verdict describe(Reason reason) const {
    const bool few = reason == Reason::too_few;
    const std::string cores = std::to_string(cores_.count());
    Verdict verdict;
    verdict.value = processes();
    verdict.threshold = few ? fewest() : most();
    verdict.unit = "processes";
    verdict.summary =
        format::figure(processes()) +
        (processes() == 1 ? " data loading process" : " data loading processes") +
        " on a node with " + cores + " cores: " + (few ? "fewer than " : "more than ") +
        format::percent(few ? params_.min_threshold : params_.max_threshold) + " of the cores.";
    verdict.evidence = JsonWriter{}
                           .begin_object()
                           .field("reason", name_of(reason))
                           .field("dataloaders", processes())
                           .field("cores", cores_.count())
                           .field("seconds_seen", seen_)
                           .end_object()
                           .take();
    verdict.next =
        few ? "Give the DataLoader more workers (num_workers), if steps wait for data."
            : "Give the DataLoaders fewer workers (num_workers): they compete for the cores.";
    return verdict;
  }

  Params params_;
  const Interner& interner_;
  Cores cores_;
  Seconds seconds_;
  SortedWindow processes_{kWindow};  // per second
  std::uint64_t seen_ = 0;           // seconds
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<Dataloader, Params>(
      {.id = "dataloader",
       .scope = Scope::node,
       .summary = "Too few or too many data loading processes for the cores of the node.",
       .doc = "SageMaker's Dataloader: the median number of processes per second with a "
              "DataLoaderWorker or DataLoaderIter event, over the last 1000 such seconds, is "
              "compared with the node's cores once more than `patience` seconds were seen.",
       .samples = {Resource::cpu_utilization},
       .spans = {SpanKind::data_worker, SpanKind::data_wait},
       .on_by_default = false},
      {field("min_threshold", &Params::min_threshold, 0, 100000,
             "Percent of the cores; fewer processes are too few."),
       field("max_threshold", &Params::max_threshold, 0, 100000,
             "Percent of the cores; more processes are too many."),
       field("patience", &Params::patience, 0, 1000000,
             "Seconds with data loading required before the first evaluation."),
       field("recovery_seconds", &Params::recovery_seconds, 1, 1000000,
             "Consecutive seconds without the condition that end the alert.")});
  return spec;
}

}  // namespace trainwatch::dataloader
