// SPDX-License-Identifier: Apache-2.0
// A call that fetches the next batch takes far longer than usual; see
// docs/rules/getnext_outlier.md.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "rules/cost_floor.h"
#include "rules/format.h"
#include "trainwatch/json_writer.h"
#include "trainwatch/rule.h"
#include "trainwatch/stats/sorted_window.h"

namespace trainwatch::getnext_outlier {
namespace {

constexpr std::size_t kMaxNames = 64;
constexpr std::size_t kNameShown = 200;       // bytes
constexpr std::int64_t kMostRecovery = 5000;  // calls
constexpr std::int64_t kStartingCalls = 3;    // of a loader, which fills its queue
constexpr auto kGap = std::chrono::seconds(5);
constexpr int kGapTimes = 8;        // the usual distance of calls
constexpr double kSmallest = 0.25;  // of the usual distance of calls: what a slow one loses
constexpr double kLarge = 1;        // likewise: what is a warning
constexpr double kMicros = 1e6;     // in a second
constexpr double kRecord = 0.1;     // times min_lost_seconds, in a profiler's short record

struct Params {
  double factor = 2;
  double min_lost_seconds = 0.5;
  double warning_seconds = kLeastWarningSeconds;
  std::int64_t window = 100;
  std::int64_t warmup = 10;
  std::int64_t recovery = 50;
  std::int64_t merge_after = 3;
};

// A slow call and what it was compared with.
struct Call {
  Time start{};
  Time end{};
  std::int64_t step = kNoStep;
  std::int64_t worker = kNoWorker;
  double seconds = 0;
  double median = 0;
  double limit = 0;

  double lost() const { return seconds - median; }
};

// When a rank fetched its last batch, by a call of any name.
struct Latest {
  Time start{};
  Time end{};
  Nanos distance{};  // from one call to the next, a mean
  std::int64_t process = -1;

  // A call after a long pause, or of another process: training was started again.
  bool is_followed_anew(const Span& span) const {
    if (process >= 0 && span.process >= 0 && span.process != process) return true;
    return end != Time{} && span.start - end > std::max<Nanos>(kGap, distance * kGapTimes);
  }
  void add(const Span& span) {
    if (end != Time{}) distance += (std::max(span.start - start, Nanos{}) - distance) / 16;
    start = span.start;
    end = std::max(end, span.end());
    process = span.process;
  }

  void state(StateIo& io) {
    io(start);
    io(end);
    io(distance);
    io(process);
    if (distance < Nanos{}) io.fail();
  }
};

// The calls of one name, "DataLoaderIter::GetNext".
struct Caller {
  explicit Caller(const Params& params, Symbol of_name)
      : name(of_name), durations(static_cast<std::size_t>(params.window)) {}

  Symbol name;
  LeanSortedWindow durations;   // microseconds: whole ones are exact up to 16 s
  Time latest{};                // start of the last call
  Nanos distance{};             // from one call to the next, a mean
  std::int64_t starting = 0;    // calls that are not judged, as the loader has just started
  std::int64_t since_slow = 0;  // calls since a slow one; 0: there was none
  std::int64_t alerts = 0;
  std::uint64_t slow_calls = 0;  // since the alert opened
  Call worst;                    // of them
  double lost = 0;               // seconds, by them

  void add(const Span& span) {
    if (starting > 0) --starting;
    if (since_slow > 0 && since_slow < kMostRecovery) ++since_slow;
    durations.push(static_cast<float>(to_seconds(span.duration) * kMicros));
    if (latest != Time{}) follow_distance(std::max(span.start - latest, Nanos{}));
    latest = span.start;
  }
  double usual() const { return durations.median() / kMicros; }  // seconds
  // A pause is no usual distance.
  void follow_distance(Nanos passed) {
    constexpr int kMost = 4;
    distance = distance == Nanos{}
                   ? passed
                   : distance + (std::min(passed, kMost * distance) - distance) / 16;
  }

  void state(StateIo& io) {
    io(durations);
    io(latest);
    io(distance);
    io(starting);
    io(since_slow);
    io(alerts);
    if (starting < 0 || since_slow < 0 || alerts < 0 || distance < Nanos{}) io.fail();
    io(slow_calls);
    io(worst);
    io(lost);
  }
};

class GetNextOutlier final : public Rule {
 public:
  GetNextOutlier(const Params& params, const RuleContext& context)
      : params_(params), interner_(context.interner) {}

  void on_span(const Span& span, Verdicts& out) override {
    if (span.duration < Nanos{}) return;
    if (span.kind == SpanKind::data_init) return start_all();
    Caller* caller = caller_of(span.name);
    if (caller == nullptr) return;
    if (latest_.is_followed_anew(span)) start_all();
    latest_.add(span);
    const double seconds = to_seconds(span.duration);
    const bool recorded = span.origin == Origin::profiler;
    const double least = recorded ? kRecord * params_.min_lost_seconds : least_loss(*caller);
    const bool counts = caller->starting == 0 && !is_hidden(*caller);
    if (counts && is_slow(*caller, seconds, least)) {
      on_slow(*caller, span, least, out);
    } else {
      out.clear(interner_.text(caller->name), span.end());
    }
    caller->add(span);
  }

  void state(StateIo& io) override {
    io(latest_);
    auto count = static_cast<std::uint32_t>(callers_.size());
    io(count);
    if (count > kMaxNames) io.fail();
    if (io.is_loading()) callers_.clear();
    for (std::uint32_t i = 0; i < count && io.ok(); ++i) {
      Symbol name = io.is_loading() ? Symbol::none : callers_[i].name;
      io(name);
      if (static_cast<std::size_t>(name) >= interner_.symbols.size()) return io.fail();
      if (io.is_loading()) callers_.emplace_back(params_, name);
      io(callers_[i]);
    }
  }

  Lifecycle lifecycle() const override { return {.recover_after = params_.recovery}; }
  bool warming() const override {
    return std::ranges::none_of(callers_, [&](const Caller& caller) { return warm(caller); });
  }

 private:
  Caller* caller_of(Symbol name) {
    for (Caller& caller : callers_) {
      if (caller.name == name) return &caller;
    }
    return callers_.size() < kMaxNames ? &callers_.emplace_back(params_, name) : nullptr;
  }

  void start_all() {
    for (Caller& caller : callers_) caller.starting = kStartingCalls;
  }

  // TensorFlow's pipeline calls its own stages in the background. Where the call of the training is
  // known as well, only that one says that training waited.
  bool is_stage(const Caller& caller) const {
    return interner_.text(caller.name).find("dataset::") != std::string_view::npos;
  }
  bool is_hidden(const Caller& caller) const {
    return is_stage(caller) && std::ranges::any_of(callers_, [&](const Caller& other) {
             return warm(other) && !is_stage(other);
           });
  }

  bool warm(const Caller& caller) const {
    return caller.durations.size() >=
           static_cast<std::size_t>(std::min(params_.warmup, params_.window));
  }
  // Half a second is little in a step that takes many.
  double least_loss(const Caller& caller) const {
    return std::max(params_.min_lost_seconds, kSmallest * to_seconds(caller.distance));
  }
  double limit(double median, double least) const {
    return std::max(params_.factor * median, median + least);
  }
  bool is_slow(const Caller& caller, double seconds, double least) const {
    return warm(caller) && seconds >= limit(caller.usual(), least);
  }

  void on_slow(Caller& caller, const Span& span, double least, Verdicts& out) const {
    const Call call{span.start,
                    span.end(),
                    span.step,
                    span.worker,
                    to_seconds(span.duration),
                    caller.usual(),
                    limit(caller.usual(), least)};
    const std::string_view key = interner_.text(caller.name);
    caller.slow_calls = out.firings(key) + 1;
    if (caller.slow_calls == 1 || call.lost() > caller.worst.lost()) caller.worst = call;
    const double large = span.origin == Origin::profiler ? 0 : kLarge * to_seconds(caller.distance);
    const bool severe = caller.worst.lost() >= std::max(params_.warning_seconds, large);
    if (caller.slow_calls == 1) {
      if (caller.alerts < params_.merge_after) ++caller.alerts;
      caller.lost = 0;
    }
    caller.lost += call.lost();
    // Slow calls that come far apart, again and again, are one alert.
    const bool often = params_.merge_after > 0 && caller.alerts == params_.merge_after;
    const std::int64_t far = often ? 2 * caller.since_slow : 0;
    const std::int64_t recovery = std::max(params_.recovery, std::min(far, kMostRecovery));
    caller.since_slow = 1;
    out.fires({.key = key,
               .at = call.end,
               .severity = severe ? Severity::warning : Severity::info,
               .recover_after = recovery},
              [&] { return describe(caller, call); });
  }

  // "DataLoaderIter::GetNext of worker 3 at step 120"
  std::string described(const Caller& caller) const {
    std::string words = format::cut(interner_.text(caller.name), kNameShown);
    const Call& worst = caller.worst;
    if (worst.worker != kNoWorker) words += " of worker " + std::to_string(worst.worker);
    if (worst.step != kNoStep) words += " at step " + std::to_string(worst.step);
    return words;
  }

  std::string summary(const Caller& caller) const {
    const Call& worst = caller.worst;
    std::string words = described(caller) + " took " + format::seconds(worst.seconds);
    if (worst.median > 0) words += ", " + format::figure(worst.seconds / worst.median) + "x";
    words +=
        (worst.median > 0 ? " the median of " : ", the median is ") + format::seconds(worst.median);
    if (caller.slow_calls == 1) return words + ".";
    return words + ", the worst of " + std::to_string(caller.slow_calls) + " slow calls.";
  }

  std::string evidence(const Caller& caller, const Call& latest) const {
    const Call& worst = caller.worst;
    JsonWriter json;
    json.begin_object().field("name", format::cut(interner_.text(caller.name), kNameShown));
    if (worst.worker != kNoWorker) json.field("worker", worst.worker);
    if (worst.step != kNoStep) json.field("step", worst.step);
    json.field("seconds", worst.seconds)
        .field("median_seconds", worst.median)
        .field("lost_seconds", worst.lost())
        .field("slow_calls", caller.slow_calls)
        .field("latest_at", to_rfc3339(latest.end))
        .field("latest_seconds", latest.seconds);
    return json.end_object().take();
  }

  // Shows the worst call since the alert opened, so that a small one after a long stall does not
  // hide it.
  Verdict describe(const Caller& caller, const Call& latest) const {
    const Call& worst = caller.worst;
    Verdict verdict;
    verdict.window_start = worst.start;
    verdict.window_end = worst.end;
    verdict.step = worst.step;
    verdict.value = worst.seconds;
    verdict.threshold = worst.limit;
    verdict.baseline = worst.median;
    verdict.unit = "seconds";
    verdict.summary = summary(caller);
    verdict.lost_seconds = caller.lost;
    verdict.window_lost_seconds = worst.lost();
    verdict.cause = {CauseName::input_wait,
                     1.0,
                     "The training process waited " + format::seconds(worst.lost()) +
                         " longer than usual for its next batch.",
                     {}};
    verdict.evidence = evidence(caller, latest);
    verdict.next =
        "Look at this worker's storage, decoding and transforms at that time; more workers or a "
        "longer prefetch queue hide a single slow batch.";
    return verdict;
  }

  Params params_;
  const Interner& interner_;
  Latest latest_;
  std::vector<Caller> callers_;
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<GetNextOutlier, Params>(
      {.id = "getnext_outlier",
       .version = 4,
       .scope = Scope::rank,
       .summary = "Fetching the next batch takes far longer than usual.",
       .doc = "Per rank and name of the fetching call (DataLoaderIter::GetNext, "
              "enumerate(DataLoader)#...__next__, Iterator::GetNext): a call is slow when it takes "
              "`factor` times the median of the last `window` calls, `min_lost_seconds` more than "
              "it, and a quarter of what lies between two calls.",
       .spans = {SpanKind::data_wait, SpanKind::data_init},
       .incident = {.specificity = 45,
                    .slack = std::chrono::seconds(1),
                    .of_one_step = true,
                    .of_one_cause = true}},
      {field("factor", &Params::factor, 1, 1000,
             "A slow call takes at least this many times the median."),
       field(
           "min_lost_seconds", &Params::min_lost_seconds, 0, 86400,
           "A slow call loses at least this much; what is shorter is reported by input_bound if it "
           "adds up."),
       field("warning_seconds", &Params::warning_seconds, 0, 86400,
             "A call that loses this much is a warning; a shorter one is info."),
       field("window", &Params::window, 5, 10000, "Calls in the baseline."),
       field("warmup", &Params::warmup, 3, 10000, "Calls required before the first is evaluated."),
       field("recovery", &Params::recovery, 1, 1000000,
             "Consecutive normal calls that end the alert."),
       field("merge_after", &Params::merge_after, 0, 1000,
             "With this alert of a call, slow ones that keep coming become one alert; 0: never.")});
  return spec;
}

}  // namespace trainwatch::getnext_outlier
