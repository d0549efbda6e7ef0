// Too few or too many processes load data for the cores of the node; SageMaker's Dataloader, see
// docs/rules/dataloader.md.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rules/dataloader_seconds.h"
#include "rules/format.h"
#include "trainwatch/json_writer.h"
#include "trainwatch/rule.h"
#include "trainwatch/stats/sorted_window.h"

namespace trainwatch {
namespace {

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
  dataloader::Seconds seconds_;
  SortedWindow processes_{kWindow};  // per second
  std::uint64_t seen_ = 0;           // seconds
};

}  // namespace

const RuleSpec& dataloader_rule() {
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

}  // namespace trainwatch
