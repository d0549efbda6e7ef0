// The time from one fetch of a batch to the next of the same process, and what the system and the
// framework did while it was long.
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "pipeline/analysis/sagemaker/interval_contexts.h"
#include "pipeline/analysis/sagemaker/loader_calls.h"
#include "trainwatch/analysis.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMaxProcesses = 4096;

class Batchtime final : public Analysis {
 public:
  explicit Batchtime(const Interner& interner) : interner_(interner), contexts_(interner) {}

  void on(const Event& event) override {
    if (const auto* sample = std::get_if<Sample>(&event)) return contexts_.on(*sample);
    const auto* span = std::get_if<Span>(&event);
    if (span == nullptr || span->origin != Origin::timeline) return;
    contexts_.on(*span);
    if (span->kind != SpanKind::data_wait) return;
    const std::string_view name = interner_.text(span->name);
    if (name.find(kTorchGetNext) != std::string_view::npos) add(*span);
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

extern const AnalysisSpec batchtime_spec = {
    "batchtime", "The time between batches of a PyTorch loader, and what went on in the long ones",
    true, every_span_kind(), make_analysis<Batchtime>};

}  // namespace trainwatch
