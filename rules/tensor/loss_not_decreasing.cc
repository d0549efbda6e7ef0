// SPDX-License-Identifier: Apache-2.0
// A loss does not fall; SageMaker's LossNotDecreasing, see docs/rules/loss_not_decreasing.md.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "rules/tensor/loss_feed.h"

namespace trainwatch::loss_not_decreasing {
namespace {

constexpr std::size_t kMostSince = 32;  // records kept between two checks
constexpr std::string_view kNext =
    "Plot the loss over more steps: if it has levelled off, lower the learning rate or stop; if it "
    "never fell, look at the learning rate, the labels and the gradients.";
constexpr TensorPhrases kPhrases[] = {{.pattern = "flat",
                                       .one = "does not decrease",
                                       .many = "do not decrease",
                                       .figure = "decrease in percent",
                                       .unit = "percent",
                                       .next = kNext,
                                       .thing = "loss"},
                                      {.pattern = "increasing",
                                       .one = "increases",
                                       .many = "increase",
                                       .figure = "decrease in percent",
                                       .unit = "percent",
                                       .next = kNext,
                                       .thing = "loss"}};
constexpr std::array<std::string_view, 5> kModes = {"", "train", "eval", "predict", "global"};

struct Params {
  std::string collection_names;
  std::string tensor_regex;
  bool use_losses_collection = true;
  std::int64_t num_steps = 10;
  double diff_percent = 0.1;
  double increase_threshold_percent = 5;
  std::string mode;
};

std::string lower(std::string_view text) {
  std::string made(text);
  for (char& c : made) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return made;
}

Status check_mode(std::string_view text) {
  if (std::ranges::find(kModes, lower(text)) != kModes.end()) return success();
  return Error{"'" + std::string(text) + "' is not one of train|eval|predict|global"};
}

struct Record {
  std::int64_t step = kNoStep;
  double loss = 0;
};

// The record of the latest check, and those since.
struct Memory {
  std::vector<Record> since;

  bool possible() const {
    return since.size() <= kMostSince &&
           std::ranges::all_of(since, [](const Record& record) { return record.step >= kNoStep; });
  }
};

class LossNotDecreasing final : public TensorRule<Memory> {
 public:
  LossNotDecreasing(const Params& params, const RuleContext& context)
      : TensorRule(context),
        params_(params),
        mode_(lower(params.mode)),
        selection_(params.collection_names + (params.use_losses_collection ? ",losses" : ""),
                   params.tensor_regex) {}

  void on_tensor(const Tensor& tensor, Verdicts& out) override {
    if (!selection_.has(tensor, interner())) return;
    if (const auto point = loss_point(tensor)) on_loss(*point, out);
  }
  void on_scalar(const Scalar& scalar, Verdicts& out) override {
    const auto point = loss_point(scalar);
    if (point && params_.use_losses_collection) on_loss(*point, out);
  }

 protected:
  std::span<const TensorPhrases> phrases() const override { return kPhrases; }
  std::string_view wanted() const override { return "losses"; }

 private:
  void on_loss(const LossPoint& point, Verdicts& out) {
    const TensorPlace& place = point.place;
    if (place.step == kNoStep || (!mode_.empty() && to_string(place.mode) != mode_)) return;
    Track* const track = reach(place, out);
    if (track == nullptr) return;
    std::vector<Record>& since = track->memory.since;
    const Record latest{place.step, point.value};
    if (since.empty() || place.step - since.front().step < params_.num_steps) {
      if (since.size() < kMostSince) since.push_back(latest);
      return;
    }
    const auto too_late = std::ranges::find_if(
        since, [&](const Record& record) { return record.step > place.step - params_.num_steps; });
    const Record before = *(too_late - 1);  // the first is early enough
    since.assign(1, latest);
    compare(*track, place, before, latest, out);
  }

  void compare(Track& track, const TensorPlace& place, const Record& before, const Record& latest,
               Verdicts& out) {
    const double fall = before.loss - latest.loss;
    const double percent = before.loss == 0 ? (fall > 0   ? 100.0
                                               : fall < 0 ? -100.0
                                                          : 0.0)
                                            : 100 * fall / std::fabs(before.loss);
    const bool increases = -percent > params_.increase_threshold_percent;
    const bool flat = percent < params_.diff_percent || percent <= 0;
    judge(track, place,
          {increases || flat, percent, params_.diff_percent,
           static_cast<std::uint8_t>(increases ? 1 : 0)},
          out);
  }

  Params params_;
  std::string mode_;
  TensorSelection selection_;
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<LossNotDecreasing, Params>(
      {.id = "loss_not_decreasing",
       .scope = Scope::rank,
       .summary = "A loss does not decrease.",
       .doc = "SageMaker's LossNotDecreasing: every time that `num_steps` steps have passed, a "
              "loss is compared with that of the newest step at least so many steps before; it "
              "must have fallen by `diff_percent`. Saved tensors of one element, and losses that "
              "the job logs.",
       .on_by_default = false},
      {collections_field(&Params::collection_names), names_field(&Params::tensor_regex),
       bool_field("use_losses_collection", &Params::use_losses_collection,
                  "And those of the collection losses, and losses that are logged."),
       field("num_steps", &Params::num_steps, 1, 1e9, "Steps between two checks, at least."),
       field("diff_percent", &Params::diff_percent, 0, 100,
             "Percent by which a loss must fall from check to check."),
       field("increase_threshold_percent", &Params::increase_threshold_percent, 0, 1e300,
             "A rise by more percent is called an increase."),
       text_field("mode", &Params::mode, "Only losses of this mode; empty: of every mode.",
                  check_mode)});
  return spec;
}

}  // namespace trainwatch::loss_not_decreasing
