// SPDX-License-Identifier: Apache-2.0
// What the framework spends its time on; SageMaker's rule OverallFrameworkMetrics, which is a
// report.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "pipeline/analysis/per_rank.h"
#include "pipeline/analysis/table_cells.h"
#include "trainwatch/analysis.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMaxEventNames = 4096;
constexpr double kSmallest = 2;  // percent; smaller rows are left out of long tables

enum class Bucket : std::uint8_t { cpu, gpu, phase, passes, general, communication, count_ };

constexpr std::array<std::string_view, static_cast<std::size_t>(Bucket::count_)> kBuckets = {
    "cpu_operators", "gpu_operators", "phase", "forward_backward", "general", "communication"};

bool contains_lower(std::string_view text, std::string_view part) {
  const auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b; };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

// Where an event belongs, and what it is counted as there.
std::pair<Bucket, std::string> place_of(std::string_view phase, std::string_view name,
                                        SpanKind kind) {
  if (contains_lower(phase, "cpu")) return {Bucket::cpu, std::string(name)};
  if (contains_lower(phase, "gpu")) return {Bucket::gpu, std::string(name)};
  if (phase.find("Step") != std::string_view::npos) return {Bucket::phase, std::string(phase)};
  if (phase == "Forward-SubModuleInternal") return {Bucket::passes, "Forward pass"};
  if (phase == "Backward-SubModuleInternal") return {Bucket::passes, "Backward pass"};
  // Horovod's phases are its tensors. TensorFlow's own communication is a part of the framework.
  if (kind == SpanKind::communication && phase != "NcclManager") {
    return {Bucket::communication, std::string(name)};
  }
  return {Bucket::general, std::string(phase)};
}

// The training loop of a rank.
struct Loop {
  Time start = kNoTime;
  Time end = kNoTime;
  Nanos steps{};  // the sum of their durations

  void add(const Span& step) {
    start = start == kNoTime ? step.start : std::min(start, step.start);
    end = end == kNoTime ? step.end() : std::max(end, step.end());
    steps += step.duration;
  }
  Nanos others() const { return std::max(end - start - steps, Nanos{}); }
};

using Times = std::map<std::string, std::int64_t>;  // microseconds by name

class OverallFrameworkMetrics final : public Analysis {
 public:
  explicit OverallFrameworkMetrics(const Interner& interner)
      : interner_(interner), loops_(interner) {}

  void on_span(const Span& span) override {
    if (!is_sagemakers(span)) return;
    const Key key{{span.phase, span.metric()}, span.kind};
    auto entry = times_.find(key);
    if (entry == times_.end()) {
      if (times_.size() < kMaxEventNames) {
        entry = times_.try_emplace(key).first;
      } else {
        ++left_out_;
      }
    }
    if (entry != times_.end()) entry->second += span.duration;
    if (span.kind != SpanKind::step) return;
    if (Loop* const loop = loops_.of(span.subject)) loop->add(span);
  }

  void state(StateIo& io) override {
    io(times_);
    io(left_out_);
    loops_.state(io, [&](Loop& loop) { io(loop); });
    if (times_.size() > kMaxEventNames) io.fail();
    for (const auto& [key, time] : times_) {
      if (!is_known(interner_, key.first.first) || !is_known(interner_, key.first.second) ||
          key.second >= SpanKind::count_) {
        io.fail();
      }
    }
  }

  Figures figures() const override {
    Figures out;
    std::array<Times, kBuckets.size()> buckets;
    for (const auto& [key, time] : times_) {
      const auto [bucket, name] =
          place_of(interner_.text(key.first.first), interner_.text(key.first.second), key.second);
      buckets[static_cast<std::size_t>(bucket)][name] += to_us(time);
    }
    Times& phases = buckets[static_cast<std::size_t>(Bucket::phase)];
    for (const auto& [rank, loop] : loops_.all()) phases["others"] += to_us(loop.others());
    for (std::size_t i = 0; i < kBuckets.size(); ++i) {
      add_bucket(out.group(kBuckets[i]), kBuckets[i], buckets[i],
                 has_many(static_cast<Bucket>(i)) ? kSmallest : 0);
    }
    out.add("left_out", left_out_);
    return out;
  }

 private:
  using Key = std::pair<std::pair<Symbol, Symbol>, SpanKind>;  // phase and metric

  // Of its own timelines, or of TensorFlow's profiler, whose phases are devices.
  bool is_sagemakers(const Span& span) const {
    if (span.origin == Origin::timeline) return true;
    const std::string_view phase = interner_.text(span.phase);
    return phase.starts_with("/host:") || phase.starts_with("/device:");
  }
  static bool has_many(Bucket bucket) {
    return bucket == Bucket::cpu || bucket == Bucket::gpu || bucket == Bucket::communication;
  }
  static double percent(std::int64_t part, std::int64_t whole) {
    return whole > 0 ? 100 * static_cast<double>(part) / static_cast<double>(whole) : 0;
  }
  static std::int64_t sum(const Times& times) {
    std::int64_t total = 0;
    for (const auto& [name, time] : times) total += time;
    return total;
  }

  // The longest first; what is not above `smallest` per cent is left out of rows and shares.
  static void add_bucket(Figures& out, std::string_view what, Times times, double smallest) {
    const std::int64_t all = sum(times);
    std::erase_if(times, [&](const auto& entry) {
      return smallest > 0 && percent(entry.second, all) <= smallest;
    });
    const std::int64_t shown = sum(times);
    std::vector<std::pair<std::string, std::int64_t>> rows(times.begin(), times.end());
    std::stable_sort(rows.begin(), rows.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    FigureTable& table = out.table({what, "percent", "time_us"});
    for (const auto& [name, time] : rows) table.row(name, percent(time, shown), time);
  }

  const Interner& interner_;
  std::map<Key, Nanos> times_;
  PerRank<Loop> loops_;
  std::uint64_t left_out_ = 0;  // events beyond kMaxEventNames
};

}  // namespace

const AnalysisSpec& overall_framework_metrics_analysis() {
  static const AnalysisSpec spec =
      make_spec<OverallFrameworkMetrics>({.name = "overall_framework_metrics",
                                          .summary = "What the framework spends its time on",
                                          .spans = every_span_kind()});
  return spec;
}

}  // namespace trainwatch
