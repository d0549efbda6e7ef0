// The time from one fetch of a batch to the next of the same process.
#include <map>
#include <utility>

#include "pipeline/analysis/loader_calls.h"
#include "trainwatch/analysis.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMaxProcesses = 4096;

class Batchtime final : public Analysis {
 public:
  explicit Batchtime(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {}

  void on(const Event& event) override {
    const auto* span = std::get_if<Span>(&event);
    if (span == nullptr || span->origin != Origin::timeline) return;
    const std::string_view name = vocabulary_.text(span->name);
    if (name.find(kTorchGetNext) == std::string_view::npos) return;
    const Key key{span->subject, span->process};
    const auto before = last_start_.find(key);
    if (before == last_start_.end()) {
      if (last_start_.size() < kMaxProcesses) last_start_.emplace(key, span->start);
      return;
    }
    batches_.add(
        {span->start, span->start - before->second, before->second, span->worker, span->subject});
    before->second = span->start;
  }

  void state(StateIo& io) override {
    io(last_start_);
    batches_.state(io, vocabulary_);
    if (last_start_.size() > kMaxProcesses) io.fail();
  }

  void write(JsonWriter& json) const override {
    const LoaderCalls::Summary summary = batches_.summary();
    json.begin_object().field("count", batches_.count()).field("median_us", summary.median);
    json.field("max_us", summary.max).field("outlier_count", summary.outliers).key("outliers");
    JsonTable table(
        json, {"previous_batch_start_us", "start_time_us", "batch_time_us", "worker_id", "nodeID"});
    batches_.each_outlier(summary, [&](const LoaderCalls::Call& batch) {
      table.row(to_us(batch.before), to_us(batch.start), to_us(batch.duration), batch.worker,
                rank_name(vocabulary_, batch.subject));
    });
    table.end();
    json.end_object();
  }

 private:
  using Key = std::pair<SubjectId, std::int64_t>;  // and the operating system's pid

  const Vocabulary& vocabulary_;
  std::map<Key, Time> last_start_;
  LoaderCalls batches_;
};

}  // namespace

extern const AnalysisSpec batchtime_spec = {
    "batchtime",
    "The time between batches of a PyTorch loader, and the long ones",
    false,
    {SpanKind::data_wait},
    make_analysis<Batchtime>};

}  // namespace trainwatch
