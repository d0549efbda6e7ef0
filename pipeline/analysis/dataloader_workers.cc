// The worker processes that load data for PyTorch.
#include "pipeline/analysis/loader_calls.h"
#include "trainwatch/analysis.h"

namespace trainwatch {
namespace {

class DataloaderWorkers final : public Analysis {
 public:
  explicit DataloaderWorkers(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {}

  void on(const Event& event) override {
    const auto* span = std::get_if<Span>(&event);
    if (span == nullptr || span->origin != Origin::timeline) return;
    calls_.add({span->start, span->duration, kNoTime, span->worker, span->subject});
  }
  void state(StateIo& io) override { calls_.state(io, vocabulary_); }
  void write(JsonWriter& json) const override { write_loader_calls(json, vocabulary_, calls_); }

 private:
  const Vocabulary& vocabulary_;
  LoaderCalls calls_;
};

}  // namespace

extern const AnalysisSpec dataloader_workers_spec = {
    "dataloader_workers",
    "PyTorch's loader processes, and those that ran long",
    false,
    {SpanKind::data_worker},
    make_analysis<DataloaderWorkers>};

}  // namespace trainwatch
