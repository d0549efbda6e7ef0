// SPDX-License-Identifier: Apache-2.0
// How TensorFlow loads the data of each training step: the calls of its datasets for the next
// element, and the threads that make them.
#include <algorithm>
#include <cmath>
#include <deque>
#include <vector>

#include "pipeline/analysis/per_rank.h"
#include "pipeline/analysis/table_cells.h"
#include "trainwatch/analysis.h"
#include "trainwatch/insert_sorted.h"

namespace trainwatch {
namespace {

constexpr std::size_t kGetNextSteps = 1000;       // steps of a rank,
constexpr std::size_t kAllGetNextSteps = 65'536;  // and of all together
constexpr std::size_t kWaiting = 2048;            // calls of a rank whose step is not known yet
constexpr std::size_t kThreads = 32;              // of a step

enum class CallKind : std::uint8_t { none, dataset, iterator };

// TensorFlow's names: "dataset::GetNext" and "Iterator::Model::Map::GetNext" within the input
// pipeline, "IteratorGetNextOp::DoCompute" where the step takes its batch.
CallKind getnext_kind(std::string_view name) {
  const auto contains = [name](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  };
  if (contains("IteratorGetNext")) return CallKind::iterator;
  if (contains("DataLoaderIter::")) return CallKind::none;  // PyTorch's
  const bool dataset = contains("dataset::GetNext");
  return dataset || contains("Iterator::") ? CallKind::dataset : CallKind::none;
}

struct Calls {
  std::uint64_t count = 0;
  Nanos sum{};

  void add(Nanos duration) {
    ++count;
    sum += duration;
  }
};

struct Call {
  Time start{};
  Nanos duration{};
  std::int64_t thread = kNoThread;
  std::int64_t iterator = 0;  // the step's own call; else one of a dataset
};

struct StepCalls {
  Time start{};
  Time end{};
  std::int64_t number = kNoStep;
  Calls dataset;
  Calls iterator;
  std::vector<std::int64_t> threads{};  // those with a call of a dataset

  bool has(const Call& call) const { return start <= call.start && call.start <= end; }
  void add(const Call& call) {
    if (call.iterator != 0) return iterator.add(call.duration);
    dataset.add(call.duration);
    if (call.thread == kNoThread || threads.size() == kThreads) return;
    const auto known = std::find(threads.begin(), threads.end(), call.thread);
    if (known == threads.end()) threads.push_back(call.thread);
  }
  void state(StateIo& io) {
    io(start);
    io(end);
    io(number);
    bool called = dataset.count + iterator.count > 0;
    io(called);  // no step of a PyTorch job is
    if (!called) return;
    io(dataset);
    io(iterator);
    io(threads);
    if (threads.size() > kThreads) io.fail();
  }
};

// Steps and calls of a rank come from two files, either of them first.
struct RankCalls {
  std::deque<StepCalls> steps;  // by start
  std::deque<Call> waiting;     // those in none of them, by start

  void add(const Call& call) {
    const auto after =
        std::upper_bound(steps.begin(), steps.end(), call.start,
                         [](Time start, const StepCalls& step) { return start < step.start; });
    if (after != steps.begin() && (after - 1)->has(call)) return (after - 1)->add(call);
    if (waiting.size() == kWaiting) waiting.pop_front();
    insert_sorted(waiting, call, &Call::start);
  }
  void add(StepCalls step, std::size_t most) {
    const auto begin = std::ranges::lower_bound(waiting, step.start, {}, &Call::start);
    const auto end = std::ranges::upper_bound(begin, waiting.end(), step.end, {}, &Call::start);
    std::for_each(begin, end, [&step](const Call& call) { step.add(call); });
    waiting.erase(begin, end);
    insert_sorted(steps, std::move(step), &StepCalls::start);
    trim(most);
  }
  void trim(std::size_t most) {
    while (steps.size() > most) steps.pop_front();
  }
  void state(StateIo& io) {
    io(steps);
    io(waiting);
    const auto by_start = [](const auto& a, const auto& b) { return a.start < b.start; };
    if (!std::is_sorted(steps.begin(), steps.end(), by_start)) io.fail();
    if (!std::is_sorted(waiting.begin(), waiting.end(), by_start)) io.fail();
    if (steps.size() > kGetNextSteps || waiting.size() > kWaiting) io.fail();
  }
};

class TfGetnextPerStep final : public Analysis {
 public:
  explicit TfGetnextPerStep(const Interner& interner) : interner_(interner), ranks_(interner) {}

  void on_span(const Span& span) override {
    const bool step = span.kind == SpanKind::step;
    if (step && (span.mode != Mode::train || span.origin != Origin::timeline)) return;
    const CallKind kind = step ? CallKind::none : kind_of(span.name);
    if (!step && kind == CallKind::none) return;
    RankCalls* const rank =
        ranks_.of(span.subject, [this](RankCalls& calls) { calls.trim(most()); });
    if (rank == nullptr) return;
    if (step) {
      rank->add(StepCalls{span.start, span.end(), span.step, {}, {}}, most());
    } else {
      rank->add({span.start, span.duration, span.thread, kind == CallKind::iterator ? 1 : 0});
    }
  }

  void state(StateIo& io) override {
    ranks_.state(io, [&](RankCalls& rank) { io(rank); });
  }

  Figures figures() const override {
    Figures out;
    FigureTable& table = out.table({"step", "start_time_us", "duration_us", "workers",
                                    "getnext_count", "getnext_mean_us", "iterator_getnext_count",
                                    "iterator_getnext_mean_us", "nodeID"});
    for (const auto& [subject, rank] : ranks_.all()) {
      for (const StepCalls& step : rank.steps) {
        table.row(step.number, to_us(step.start), to_us(step.end - step.start), workers(step),
                  step.dataset.count, mean_us(step.dataset), step.iterator.count,
                  mean_us(step.iterator), rank_name(interner_, subject));
      }
    }
    return out;
  }

 private:
  CallKind kind_of(Symbol name) {
    if (name != latest_name_) latest_kind_ = getnext_kind(interner_.text(name));
    latest_name_ = name;
    return latest_kind_;
  }
  std::size_t most() const { return ranks_.share(kGetNextSteps, kAllGetNextSteps); }
  // NaN, which is null: there was no call.
  static double mean_us(const Calls& calls) {
    return static_cast<double>(calls.sum.count()) / 1e3 / static_cast<double>(calls.count);
  }
  // Null where the file does not say which thread a call was on.
  static double workers(const StepCalls& step) {
    if (step.threads.empty() && step.dataset.count > 0) return std::nan("");
    return static_cast<double>(step.threads.size());
  }

  const Interner& interner_;
  PerRank<RankCalls> ranks_;
  Symbol latest_name_ = Symbol::none;  // calls of one name come together
  CallKind latest_kind_ = CallKind::none;
};

}  // namespace

const AnalysisSpec& tf_getnext_per_step_analysis() {
  static const AnalysisSpec spec = make_spec<TfGetnextPerStep>(
      {.name = "tf_getnext_per_step",
       .summary =
           "TensorFlow's data loading in each training step: threads, calls and their mean time",
       .spans = {SpanKind::step, SpanKind::data_wait}});
  return spec;
}

}  // namespace trainwatch
