// SPDX-License-Identifier: Apache-2.0
// PyTorch's data loaders: the calls with which the training loop fetches its next batch, the worker
// processes that load the data, and how the iterators were set up.
#include <map>
#include <string>

#include "pipeline/analysis/sagemaker/loader_calls.h"
#include "trainwatch/analysis.h"

namespace trainwatch {
namespace {

class DataloaderCalls : public Analysis {
 public:
  // Takes the calls whose names contain `name`; "" takes all.
  DataloaderCalls(const Interner& interner, std::string_view name)
      : interner_(interner), name_(name) {}

  void on_span(const Span& span) override {
    if (span.origin != Origin::timeline) return;
    if (interner_.text(span.name).find(name_) == std::string_view::npos) return;
    calls_.add({span.start, span.duration, kNoTime, span.worker, span.subject});
  }
  void state(StateIo& io) override { calls_.state(io, interner_); }
  Figures figures() const override {
    Figures out;
    add_loader_calls(out, interner_, calls_);
    return out;
  }

 private:
  const Interner& interner_;
  std::string_view name_;
  LoaderCalls calls_;
};

class DataloaderGetnext final : public DataloaderCalls {
 public:
  explicit DataloaderGetnext(const Interner& interner) : DataloaderCalls(interner, kTorchGetNext) {}
};

class DataloaderWorkers final : public DataloaderCalls {
 public:
  explicit DataloaderWorkers(const Interner& interner) : DataloaderCalls(interner, "") {}
};

}  // namespace

const AnalysisSpec& dataloader_getnext_analysis() {
  static const AnalysisSpec spec = make_spec<DataloaderGetnext>(
      {.name = "dataloader_getnext",
       .summary = "PyTorch's calls for the next batch, and the slow ones",
       .spans = {SpanKind::data_wait}});
  return spec;
}

const AnalysisSpec& dataloader_workers_analysis() {
  static const AnalysisSpec spec = make_spec<DataloaderWorkers>(
      {.name = "dataloader_workers",
       .summary = "PyTorch's loader processes, and those that ran long",
       .spans = {SpanKind::data_worker}});
  return spec;
}

namespace {

constexpr std::size_t kMaxIterators = 64;

// One type of iterator.
struct Iterator {
  LoaderCalls calls;
  Time first = kNoTime;  // start of the call that num_workers and pin_memory are from
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
  explicit DataloaderInitialization(const Interner& interner) : interner_(interner) {}

  void on_span(const Span& span) override {
    if (span.origin != Origin::timeline) return;
    auto iterator = iterators_.find(span.name);
    if (iterator == iterators_.end()) {
      if (iterators_.size() == kMaxIterators) return;
      iterator = iterators_.try_emplace(span.name).first;
    }
    iterator->second.add(span);
  }

  void state(StateIo& io) override {
    auto count = static_cast<std::uint32_t>(iterators_.size());
    io(count);
    if (count > kMaxIterators) io.fail();
    auto known = iterators_.begin();
    for (std::uint32_t i = 0; i < count && io.ok(); ++i) {
      Symbol name = io.is_loading() ? Symbol::none : known->first;
      io(name);
      if (!is_known(interner_, name)) io.fail();
      iterator_state(io, io.is_loading() ? iterators_[name] : known->second);
      if (!io.is_loading()) ++known;
    }
  }

  Figures figures() const override {
    Figures out;
    std::map<std::string_view, const Iterator*> ordered;
    for (const auto& [name, iterator] : iterators_) ordered[interner_.text(name)] = &iterator;
    for (const auto& [name, iterator] : ordered) {
      Figures& of = out.group(name);
      std::optional<bool> pins;
      if (iterator->pin_memory != PinMemory::unknown) pins = iterator->pin_memory == PinMemory::yes;
      std::optional<std::int32_t> workers;
      if (iterator->num_workers != kNoWorker) workers = iterator->num_workers;
      of.add("pin_memory", pins).add("num_workers", workers);
      add_loader_calls(of.group("initializations"), interner_, iterator->calls);
    }
    return out;
  }

 private:
  void iterator_state(StateIo& io, Iterator& iterator) const {
    iterator.calls.state(io, interner_);
    io(iterator.first);
    io(iterator.num_workers);
    io(iterator.pin_memory);
    if (iterator.pin_memory >= PinMemory::count_) io.fail();
  }

  const Interner& interner_;
  std::map<Symbol, Iterator> iterators_;
};

}  // namespace

const AnalysisSpec& dataloader_initialization_analysis() {
  static const AnalysisSpec spec = make_spec<DataloaderInitialization>(
      {.name = "dataloader_initialization",
       .summary = "How PyTorch's loader iterators are set up, and how long that takes",
       .spans = {SpanKind::data_init}});
  return spec;
}

}  // namespace trainwatch
