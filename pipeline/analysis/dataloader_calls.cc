// The calls with which PyTorch's training loop fetches its next batch, and the worker processes
// that load the data.
#include "pipeline/analysis/loader_calls.h"
#include "trainwatch/analysis.h"

namespace trainwatch {
namespace {

class DataloaderCalls final : public Analysis {
 public:
  // Of calls of another name it takes none; any name contains "".
  DataloaderCalls(const Vocabulary& vocabulary, std::string_view name)
      : vocabulary_(vocabulary), name_(name) {}

  void on(const Event& event) override {
    const auto* span = std::get_if<Span>(&event);
    if (span == nullptr || span->origin != Origin::timeline) return;
    if (vocabulary_.text(span->name).find(name_) == std::string_view::npos) return;
    calls_.add({span->start, span->duration, kNoTime, span->worker, span->subject});
  }
  void state(StateIo& io) override { calls_.state(io, vocabulary_); }
  void write(JsonWriter& json) const override { write_loader_calls(json, vocabulary_, calls_); }

 private:
  const Vocabulary& vocabulary_;
  std::string_view name_;
  LoaderCalls calls_;
};

}  // namespace

extern const AnalysisSpec dataloader_getnext_spec = {
    "dataloader_getnext",
    "PyTorch's calls for the next batch, and the slow ones",
    false,
    {SpanKind::data_wait},
    [](const Vocabulary& vocabulary, const AnalysisOptions&) -> std::unique_ptr<Analysis> {
      return std::make_unique<DataloaderCalls>(vocabulary, kTorchGetNext);
    }};

extern const AnalysisSpec dataloader_workers_spec = {
    "dataloader_workers",
    "PyTorch's loader processes, and those that ran long",
    false,
    {SpanKind::data_worker},
    [](const Vocabulary& vocabulary, const AnalysisOptions&) -> std::unique_ptr<Analysis> {
      return std::make_unique<DataloaderCalls>(vocabulary, "");
    }};

}  // namespace trainwatch
