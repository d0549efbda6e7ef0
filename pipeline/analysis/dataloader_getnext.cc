// The calls with which PyTorch's training loop fetches its next batch.
#include "pipeline/analysis/loader_calls.h"
#include "trainwatch/analysis.h"

namespace trainwatch {
namespace {

class DataloaderGetnext final : public Analysis {
 public:
  explicit DataloaderGetnext(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {}

  void on(const Event& event) override {
    const auto* span = std::get_if<Span>(&event);
    if (span == nullptr || span->origin != Origin::timeline) return;
    const std::string_view name = vocabulary_.text(span->name);
    if (name.find("DataLoaderIter::GetNext") == std::string_view::npos) return;
    calls_.add({span->start, span->duration, kNoTime, span->worker, span->subject});
  }
  void state(StateIo& io) override { calls_.state(io, vocabulary_); }
  void write(JsonWriter& json) const override { write_loader_calls(json, vocabulary_, calls_); }

 private:
  const Vocabulary& vocabulary_;
  LoaderCalls calls_;
};

}  // namespace

extern const AnalysisSpec dataloader_getnext_spec = {
    "dataloader_getnext",
    "PyTorch's calls for the next batch, and the slow ones",
    false,
    {SpanKind::data_wait},
    make_analysis<DataloaderGetnext>};

}  // namespace trainwatch
