// How long the parts of a training step take: by training phase, by name and by process.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>

#include "pipeline/analysis/per_rank.h"
#include "pipeline/analysis/table_cells.h"
#include "trainwatch/analysis.h"
#include "trainwatch/event.h"
#include "trainwatch/state_io.h"
#include "trainwatch/stats/distribution.h"

namespace trainwatch {
namespace {

// Puts the spans of one rank together by training step: for each phase and name the time from the
// first start to the last end in the step. A span without a step number belongs to the step that it
// lies in; one that comes before its step waits for it.
//
// Bounded: the kOpen steps that were touched last, kWaiting spans, kPairs pairs of names in a step.
// A step is emitted when it makes room for another.
class StepExtents {
 public:
  static constexpr std::size_t kOpen = 8;
  static constexpr std::size_t kWaiting = 1024;
  static constexpr std::size_t kPairs = 4096;

  struct Extent {
    Time start{};
    Time end{};
    void cover(const Extent& other) {
      start = std::min(start, other.start);
      end = std::max(end, other.end);
    }
  };
  struct Names {
    Symbol phase = Symbol::none;
    Symbol name = Symbol::none;
    auto operator<=>(const Names&) const = default;
  };
  struct OpenStep {
    std::int64_t number = kNoStep;
    bool known = false;  // its own span was seen: `whole` is that
    Extent whole{};
    std::map<Names, Extent> parts;

    void add(Names names, const Extent& extent) {
      const auto entry = parts.find(names);
      if (entry != parts.end()) {
        entry->second.cover(extent);
      } else if (parts.size() < kPairs) {
        parts.emplace(names, extent);
      }
    }
    void state(StateIo& io) {
      io(number);
      io(known);
      io(whole);
      io(parts);
    }
  };

  // Calls `close(step)` with the step that made room, if one did.
  template <class Close>
  void on(const Span& span, Close&& close) {
    const Names names{span.phase, span.metric()};
    const Extent extent{span.start, span.end()};
    if (span.step == kNoStep) return place(names, extent);
    OpenStep& step = touch(span.step, extent, close);
    step.add(names, extent);
    if (span.kind != SpanKind::step) return;
    if (!step.known) step.whole = extent;
    step.known = true;
    step.whole.cover(extent);
    take_waiting();
  }

  // The open steps; the one touched last comes last.
  const std::deque<OpenStep>& open() const { return open_; }

  void state(StateIo& io, const Interner& interner) {
    io(open_);
    io(waiting_);
    const auto check = [&](Names names) {
      if (!is_known(interner, names.phase) || !is_known(interner, names.name)) io.fail();
    };
    for (const OpenStep& step : open_) {
      for (const auto& [names, extent] : step.parts) check(names);
    }
    for (const Waiting& waiting : waiting_) check(waiting.first);
    if (open_.size() > kOpen || waiting_.size() > kWaiting) io.fail();
  }

 private:
  using Waiting = std::pair<Names, Extent>;

  // A step that begins again long after its end is another step with the same number: each mode
  // counts its own.
  static bool continues(const OpenStep& step, const Extent& extent) {
    if (!step.known) return true;
    return extent.start - step.whole.end <= step.whole.end - step.whole.start;
  }

  template <class Close>
  OpenStep& touch(std::int64_t number, const Extent& extent, Close&& close) {
    const auto found = std::find_if(open_.begin(), open_.end(), [&](const OpenStep& step) {
      return step.number == number && continues(step, extent);
    });
    if (found != open_.end()) {
      if (found + 1 != open_.end()) std::rotate(found, found + 1, open_.end());
      return open_.back();
    }
    if (open_.size() == kOpen) {
      close(open_.front());
      open_.pop_front();
    }
    open_.emplace_back().number = number;
    return open_.back();
  }

  // The step with the lowest number that contains the extent; null until there is one.
  OpenStep* around(const Extent& extent) {
    OpenStep* best = nullptr;
    for (OpenStep& step : open_) {
      const bool inside =
          step.known && step.whole.start < extent.start && extent.end < step.whole.end;
      if (inside && (best == nullptr || step.number < best->number)) best = &step;
    }
    return best;
  }

  void place(Names names, const Extent& extent) {
    if (OpenStep* const step = around(extent)) return step->add(names, extent);
    if (waiting_.size() == kWaiting) waiting_.pop_front();
    waiting_.emplace_back(names, extent);
  }

  void take_waiting() {
    std::erase_if(waiting_, [this](const Waiting& waiting) {
      OpenStep* const step = around(waiting.second);
      if (step != nullptr) step->add(waiting.first, waiting.second);
      return step != nullptr;
    });
  }

  std::deque<OpenStep> open_;
  std::deque<Waiting> waiting_;
};

constexpr std::size_t kMaxPhases = 500;

// The durations of the steps so far, in microseconds.
struct Durations {
  std::map<Symbol, Distribution> by_name;
  std::map<Symbol, Distribution> by_phase;
  std::uint64_t left_out = 0;  // beyond kMaxPhases

  void add(const StepExtents::OpenStep& step) {
    std::map<Symbol, StepExtents::Extent> names;
    std::map<Symbol, StepExtents::Extent> phases;
    for (const auto& [key, extent] : step.parts) {
      names.try_emplace(key.name, extent).first->second.cover(extent);
      phases.try_emplace(key.phase, extent).first->second.cover(extent);
    }
    add(by_name, names);
    add(by_phase, phases);
  }

  void state(StateIo& io) {
    io(by_name);
    io(by_phase);
    io(left_out);
  }

 private:
  void add(std::map<Symbol, Distribution>& into,
           const std::map<Symbol, StepExtents::Extent>& extents) {
    for (const auto& [symbol, extent] : extents) {
      auto entry = into.find(symbol);
      if (entry == into.end() && into.size() == kMaxPhases) {
        ++left_out;
        continue;
      }
      if (entry == into.end()) entry = into.try_emplace(symbol).first;
      entry->second.add(static_cast<double>((extent.end - extent.start).count()) / 1e3);
    }
  }
};

class StepStatistics final : public Analysis {
 public:
  explicit StepStatistics(const Interner& interner) : interner_(interner), ranks_(interner) {}

  void on_span(const Span& span) override {
    if (span.origin != Origin::timeline) return;
    StepExtents* const rank = ranks_.of(span.subject);
    if (rank == nullptr) return;
    rank->on(span, [this](const StepExtents::OpenStep& step) { durations_.add(step); });
  }

  void state(StateIo& io) override {
    ranks_.state(io, [&](StepExtents& extents) { extents.state(io, interner_); });
    io(durations_);
    if (!io.is_loading()) return;
    for (const auto* table : {&durations_.by_name, &durations_.by_phase}) {
      for (const auto& [symbol, values] : *table) {
        if (!is_known(interner_, symbol)) io.fail();
      }
    }
  }

  Figures figures() const override {
    Figures out;
    Durations all = durations_;
    for (const auto& [subject, extents] : ranks_.all()) {
      for (const auto& step : extents.open()) {
        if (step.known) all.add(step);
      }
    }
    add_table(out, "training_phase", all.by_name, true);
    add_table(out, "framework_metric", all.by_name, false);
    add_table(out, "process", all.by_phase, false);
    out.add("left_out", all.left_out);
    return out;
  }

 private:
  void add_table(Figures& out, std::string_view what, const std::map<Symbol, Distribution>& values,
                 bool steps_only) const {
    std::map<std::string_view, const Distribution*> ordered;
    for (const auto& [symbol, durations] : values) {
      const std::string_view name = interner_.text(symbol);
      if (steps_only && name.find("Step:ModeKeys") == std::string_view::npos) continue;
      ordered[name] = &durations;
    }
    FigureTable& table =
        out.table(what, {what, "duration_mean_us", "duration_min_us", "duration_max_us",
                         "duration_p50_us", "duration_p95_us", "duration_p99_us", "count"});
    for (const auto& [name, durations] : ordered) {
      const auto sorted = durations->sorted();
      table.row(name, durations->mean(), durations->min(), durations->max(), sorted.quantile(0.5),
                sorted.quantile(0.95), sorted.quantile(0.99), durations->count());
    }
  }

  const Interner& interner_;
  PerRank<StepExtents> ranks_;
  Durations durations_;
};

}  // namespace

const AnalysisSpec& step_statistics_analysis() {
  static const AnalysisSpec spec = make_spec<StepStatistics>(
      {.name = "step_statistics",
       .summary = "How long the parts of a step take, by training phase, name and process",
       .spans = every_span_kind()});
  return spec;
}

}  // namespace trainwatch
