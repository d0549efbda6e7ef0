// Training waits for its data; see docs/rules/input_bound.md.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "rules/text.h"
#include "trainwatch/json_writer.h"
#include "trainwatch/rule.h"

namespace trainwatch {
namespace {

struct Params {
  double moderate_percent = 5;
  double high_percent = 20;
  std::int64_t window = 100;
  std::int64_t min_steps = 5;
  std::int64_t recovery_steps = 10;
};

constexpr double kMaterialPoints = 5;  // percent points; a smaller change is not told

// The steps of one writer.
struct Lane {
  struct Entry {
    Nanos duration{};
    Nanos wait{};
  };
  std::deque<Entry> recent;
  Nanos duration{};  // the sums over them
  Nanos wait{};
  bool first = true;    // no step yet
  bool waited = false;  // some step told of a wait
  bool open = false;
  std::int64_t other = 0;  // steps in a row without the condition
  double told = 0;
  Severity severity = Severity::info;

  void add(const Step& step, std::size_t window) {
    if (recent.size() == window) {
      duration -= recent.front().duration;
      wait -= recent.front().wait;
      recent.pop_front();
    }
    recent.push_back({step.duration, step.data_wait});
    duration += step.duration;
    wait += step.data_wait;
    waited = waited || step.data_wait > Nanos{};
  }
  Entry longest() const {
    return *std::ranges::max_element(recent, {}, [](const Entry& entry) { return entry.wait; });
  }
  // Without the longest wait: one stall is no lack of data.
  double percent() const {
    const Entry left_out = longest();
    const Nanos rest = duration - left_out.duration;
    return rest <= Nanos{} ? 0 : 100 * to_seconds(wait - left_out.wait) / to_seconds(rest);
  }

  void state(StateIo& io) {
    io(recent);
    io(duration);
    io(wait);
    io(first);
    io(waited);
    io(open);
    io(other);
    io(told);
    io(severity);
    if (severity > Severity::critical) io.fail();
  }
};

class InputBound final : public Rule {
 public:
  InputBound(const Params& params, const RuleContext&) : params_(params) {}

  void on(const Event& event, Verdicts& out) override {
    const Step* step = std::get_if<Step>(&event);
    if (step == nullptr || (step->mode != Mode::train && step->mode != Mode::unknown)) return;
    Lane& lane = lanes_[static_cast<std::size_t>(step->origin)];
    // The first step of a job waits until the loader's workers have started.
    const bool starting = std::exchange(lane.first, false) && step->origin == Origin::timeline;
    if (starting) return;
    lane.add(*step, static_cast<std::size_t>(params_.window));
    if (judgeable(lane)) judge(*step, lane, out);
  }

  void state(StateIo& io) override {
    for (Lane& lane : lanes_) {
      io(lane);
      if (std::cmp_greater(lane.recent.size(), params_.window)) io.fail();
    }
  }

  bool warming() const override { return !judgeable(lanes_[0]) && !judgeable(lanes_[1]); }
  std::vector<std::string_view> missing() const override {
    if (warming() || lanes_[0].waited || lanes_[1].waited) return {};
    return {"waits for data"};
  }

 private:
  bool judgeable(const Lane& lane) const {
    return std::cmp_greater_equal(lane.recent.size(), std::min(params_.min_steps, params_.window));
  }
  static std::string key_of(const Step& step) {
    return step.origin == Origin::profiler ? "profiler" : "";
  }

  void judge(const Step& step, Lane& lane, Verdicts& out) const {
    const double percent = lane.percent();
    if (percent < params_.moderate_percent) {
      if (!lane.open || ++lane.other < params_.recovery_steps) return;
      lane.open = false;
      Verdict& over = out.emplace_back();
      over.state = Verdict::State::ok;
      over.at = step.end();
      over.key = key_of(step);
      return;
    }
    const Severity severity = percent >= params_.high_percent ? Severity::warning : Severity::info;
    lane.other = 0;
    const bool same =
        lane.open && severity == lane.severity && std::fabs(percent - lane.told) < kMaterialPoints;
    if (same) return;
    lane.open = true;
    lane.told = percent;
    lane.severity = severity;
    out.push_back(firing(step, lane));
  }

  Verdict firing(const Step& step, const Lane& lane) const {
    const double percent = lane.percent();
    Verdict verdict;
    verdict.at = step.end();
    verdict.severity = lane.severity;
    verdict.key = key_of(step);
    verdict.step = step.number;
    verdict.value = percent;
    verdict.threshold =
        lane.severity == Severity::warning ? params_.high_percent : params_.moderate_percent;
    verdict.unit = "percent";
    verdict.summary = "Training waited for data in " + text::percent(percent) +
                      " of the time of the last " + std::to_string(lane.recent.size()) +
                      " steps, the longest wait left out.";
    verdict.cause = {CauseName::input_wait,
                     percent / 100,
                     text::seconds(to_seconds(lane.wait)) + " of " +
                         text::seconds(to_seconds(lane.duration)) + " went into waits for data.",
                     {}};
    verdict.evidence = JsonWriter{}
                           .begin_object()
                           .field("steps", lane.recent.size())
                           .field("step_seconds", to_seconds(lane.duration))
                           .field("data_wait_seconds", to_seconds(lane.wait))
                           .field("longest_data_wait_seconds", to_seconds(lane.longest().wait))
                           .end_object()
                           .take();
    verdict.next =
        "Load data faster: more loader workers, pinned memory, prefetching, cheaper transforms, or "
        "data closer to the GPU.";
    return verdict;
  }

  Params params_;
  std::array<Lane, 2> lanes_;  // by Origin
};

}  // namespace

const RuleSpec& input_bound_rule() {
  static const RuleSpec spec = make_spec<InputBound, Params>(
      {.id = "input_bound",
       .scope = Scope::rank,
       .summary = "Training waits for its data.",
       .doc = "The share of the time of the last `window` training steps that went into waits for "
              "the next batch, the step with the longest wait left out; the bands are those of "
              "TensorBoard's input-pipeline analysis.",
       .interest = {.steps = true}},
      {field("moderate_percent", &Params::moderate_percent, 0, 100,
             "Share of the time of steps in waits for data that is told."),
       field("high_percent", &Params::high_percent, 0, 100, "... as a warning."),
       field("window", &Params::window, 3, 10000, "Steps that are looked at."),
       field("min_steps", &Params::min_steps, 1, 10000, "Steps seen before the first judgement."),
       field("recovery_steps", &Params::recovery_steps, 1, 1000000,
             "Steps in a row below the lower band that end the alert.")});
  return spec;
}

}  // namespace trainwatch
