// SPDX-License-Identifier: Apache-2.0
// How long the job took to begin, to train and to end; and which framework it uses.
#include <algorithm>
#include <string_view>

#include "pipeline/analysis/table_cells.h"
#include "trainwatch/analysis.h"

namespace trainwatch {
namespace {

enum class Framework : std::uint8_t { unknown, pytorch, tensorflow, count_ };

std::string_view to_string(Framework framework) {
  if (framework == Framework::pytorch) return "pytorch";
  return framework == Framework::tensorflow ? "tensorflow" : "unknown";
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// By what only one of them writes.
Framework framework_of(std::string_view phase, std::string_view name) {
  if (contains(name, "DataLoaderIter") || contains(phase, "SubModuleInternal") ||
      phase == "Backward(post-forward)" || phase.starts_with("cpu_functions")) {
    return Framework::pytorch;
  }
  if (phase == "DataIterator" || contains(name, "IteratorGetNext") ||
      contains(name, "Iterator::") || contains(name, "tf_function")) {
    return Framework::tensorflow;
  }
  return Framework::unknown;
}

class JobStatistics final : public Analysis {
 public:
  explicit JobStatistics(const Interner& interner) : interner_(interner) {}

  void on_sample(const Sample& sample) override {
    begin_ = begin_ == kNoTime ? sample.at : std::min(begin_, sample.at);
    end_ = std::max(end_, sample.at);
  }

  void on_span(const Span& span) override {
    if (span.origin != Origin::timeline) return;
    first_span_ = earlier(first_span_, span.start);
    loop_end_ = std::max(loop_end_, span.end());
    if (framework_ == Framework::unknown) {
      framework_ = framework_of(interner_.text(span.phase), interner_.text(span.name));
    }
    const bool trains = span.mode == Mode::train || span.mode == Mode::global;
    if (span.kind != SpanKind::step || span.step != 0 || !trains) return;
    loop_begin_ = earlier(loop_begin_, span.start);
  }

  void state(StateIo& io) override {
    io(begin_);
    io(end_);
    io(first_span_);
    io(loop_begin_);
    io(loop_end_);
    io(framework_);
    if (framework_ >= Framework::count_) io.fail();
  }

  Figures figures() const override {
    Figures out;
    out.add("framework", to_string(framework_));
    const Time begin = earlier(begin_, first_span_);
    const Time end = std::max(end_, loop_end_);
    const Time loop_end = loop_begin_ == kNoTime ? kNoTime : loop_end_;
    out.add("start_time_us", moment(begin)).add("end_time_us", moment(end));
    out.add("training_loop_start_us", moment(loop_begin_));
    out.add("training_loop_end_us", moment(loop_end));
    out.add("job_duration_us", length(begin, end));
    out.add("initialization_us", length(begin, loop_begin_));
    out.add("training_loop_duration_us", length(loop_begin_, loop_end_));
    out.add("finalization_us", length(loop_end, end));
    out.add("initialization_%", percent(begin, loop_begin_, end - begin));
    out.add("training_loop_%", percent(loop_begin_, loop_end_, end - begin));
    out.add("finalization_%", percent(loop_end, end, end - begin));
    return out;
  }

 private:
  static Time earlier(Time a, Time b) {
    if (a == kNoTime || b == kNoTime) return std::max(a, b);
    return std::min(a, b);
  }
  static bool known(Time begin, Time end) { return begin != kNoTime && end != kNoTime; }
  static std::optional<std::int64_t> moment(Time at) {
    if (at == kNoTime) return std::nullopt;
    return to_us(at);
  }
  static std::optional<std::int64_t> length(Time begin, Time end) {
    if (!known(begin, end)) return std::nullopt;
    return to_us(end) - to_us(begin);
  }
  static std::optional<double> percent(Time begin, Time end, Nanos whole) {
    if (!known(begin, end) || whole <= Nanos{0}) return std::nullopt;
    return 100.0 * to_seconds(end - begin) / to_seconds(whole);
  }

  const Interner& interner_;
  Time begin_ = kNoTime;  // of the samples
  Time end_ = kNoTime;
  Time first_span_ = kNoTime;
  Time loop_begin_ = kNoTime;  // of step 0
  Time loop_end_ = kNoTime;    // of the last span
  Framework framework_ = Framework::unknown;
};

}  // namespace

const AnalysisSpec& job_statistics_analysis() {
  static const AnalysisSpec spec = make_spec<JobStatistics>(
      {.name = "job_statistics",
       .summary = "Initialization, training loop and finalization: durations and shares",
       .samples = every_resource(),
       .spans = every_span_kind()});
  return spec;
}

}  // namespace trainwatch
