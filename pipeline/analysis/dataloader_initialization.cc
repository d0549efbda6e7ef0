// How PyTorch's loader iterators were set up, and how long that took.
#include <map>
#include <string>

#include "pipeline/analysis/loader_calls.h"
#include "trainwatch/analysis.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMaxIterators = 64;

// One type of iterator.
struct Iterator {
  LoaderCalls calls;
  Time first = kNoTime;  // of the one that says how they are set up
  std::int32_t num_workers = kNoWorker;
  PinMemory pin_memory = PinMemory::unknown;

  void add(const Span& span) {
    calls.add({span.start, span.duration, kNoTime, span.worker, span.subject});
    if (first != kNoTime && first <= span.start) return;
    first = span.start;
    num_workers = span.num_workers;
    pin_memory = span.pin_memory;
  }
};

class DataloaderInitialization final : public Analysis {
 public:
  explicit DataloaderInitialization(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {}

  void on(const Event& event) override {
    const auto* span = std::get_if<Span>(&event);
    if (span == nullptr || span->origin != Origin::timeline) return;
    auto iterator = iterators_.find(span->name);
    if (iterator == iterators_.end()) {
      if (iterators_.size() == kMaxIterators) return;
      iterator = iterators_.try_emplace(span->name).first;
    }
    iterator->second.add(*span);
  }

  void state(StateIo& io) override {
    auto count = static_cast<std::uint32_t>(iterators_.size());
    io(count);
    if (count > kMaxIterators) io.fail();
    auto known = iterators_.begin();
    for (std::uint32_t i = 0; i < count && io.ok(); ++i) {
      Symbol name = io.is_loading() ? Symbol::none : known->first;
      io(name);
      if (!is_known(vocabulary_, name)) io.fail();
      iterator_state(io, io.is_loading() ? iterators_[name] : known->second);
      if (!io.is_loading()) ++known;
    }
  }

  void write(JsonWriter& json) const override {
    std::map<std::string_view, const Iterator*> ordered;
    for (const auto& [name, iterator] : iterators_) ordered[vocabulary_.text(name)] = &iterator;
    json.begin_object();
    for (const auto& [name, iterator] : ordered) {
      json.key(name).begin_object().key("pin_memory");
      if (iterator->pin_memory == PinMemory::unknown) {
        json.null();
      } else {
        json.value(iterator->pin_memory == PinMemory::yes);
      }
      json.key("num_workers");
      if (iterator->num_workers == kNoWorker) {
        json.null();
      } else {
        json.value(iterator->num_workers);
      }
      json.key("initializations");
      write_loader_calls(json, vocabulary_, iterator->calls);
      json.end_object();
    }
    json.end_object();
  }

 private:
  void iterator_state(StateIo& io, Iterator& iterator) const {
    iterator.calls.state(io, vocabulary_);
    io(iterator.first);
    io(iterator.num_workers);
    io(iterator.pin_memory);
    if (iterator.pin_memory >= PinMemory::count_) io.fail();
  }

  const Vocabulary& vocabulary_;
  std::map<Symbol, Iterator> iterators_;
};

}  // namespace

extern const AnalysisSpec dataloader_initialization_spec = {
    "dataloader_initialization",
    "How PyTorch's loader iterators are set up, and how long that takes",
    false,
    {SpanKind::data_init},
    make_analysis<DataloaderInitialization>};

}  // namespace trainwatch
