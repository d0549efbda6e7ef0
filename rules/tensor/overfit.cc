// SPDX-License-Identifier: Apache-2.0
// The validation loss is above the training loss; SageMaker's Overfit, see docs/rules/overfit.md.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "rules/tensor/loss_feed.h"

namespace trainwatch::overfit {
namespace {

constexpr std::size_t kMostRecords = 256;     // training losses kept
constexpr std::size_t kMostValidations = 64;  // steps of validations that wait
constexpr TensorPhrases kPhrases[] = {
    {.one = "is above that of the training",
     .many = "are above those of the training",
     .figure = "(validation - training) / training",
     .unit = "ratio",
     .next = "Stop earlier, or use more data, augmentation, dropout or weight decay; of the "
             "checkpoints, take one from when the validation loss was lowest.",
     .thing = "validation loss"}};

struct Params {
  std::string tensor_regex;
  std::int64_t start_step = 0;
  std::int64_t patience = 1;
  double ratio_threshold = 0.1;
};

struct Record {
  std::int64_t step = kNoStep;
  double loss = 0;
};

// The mean of what a validation has said at one step.
struct Validation {
  std::int64_t step = kNoStep;
  Time at{};
  double sum = 0;
  std::uint64_t count = 0;
};

// Of a validation loss.
struct Memory {
  std::vector<Validation> waiting;
  std::int64_t judged = kNoStep;  // step
  std::int64_t above = 0;         // validations in a row

  bool possible() const {
    return waiting.size() <= kMostValidations && above >= 0 && judged >= kNoStep &&
           std::ranges::all_of(waiting, [](const Validation& one) {
             return one.count > 0 && one.step >= kNoStep && is_possible(one.at);
           });
  }
};

class Overfit final : public TensorRule<Memory> {
 public:
  Overfit(const Params& params, const RuleContext& context)
      : TensorRule(context),
        params_(params),
        losses_(params.tensor_regex.empty() ? "losses" : "", params.tensor_regex) {}

  void on_tensor(const Tensor& tensor, Verdicts& out) override {
    if (!losses_.has(tensor, interner())) return;
    auto point = loss_point(tensor);
    if (!point) return;
    point->place.step = tensor.step;  // of all modes, so that they can be compared
    on_loss(*point, out);
  }
  void on_scalar(const Scalar& scalar, Verdicts& out) override {
    if (const auto point = loss_point(scalar)) on_loss(*point, out);
  }

  void state(StateIo& io) override {
    TensorRule::state(io);
    io(training_);
    io(tag_);
    if (training_.size() > kMostRecords) io.fail();
  }
  std::vector<std::string_view> missing() const override {
    std::vector<std::string_view> inputs;
    if (training_.empty()) inputs.emplace_back("training loss");
    if (tracks().empty()) inputs.emplace_back("validation loss");
    return inputs;
  }

 protected:
  std::span<const TensorPhrases> phrases() const override { return kPhrases; }
  std::string_view wanted() const override { return "validation loss"; }

 private:
  void on_loss(const LossPoint& point, Verdicts& out) {
    if (point.place.step == kNoStep) return;
    if (point.place.mode == Mode::train) on_training(point, out);
    if (point.place.mode == Mode::eval) on_validation(point, out);
  }

  void on_training(const LossPoint& point, Verdicts& out) {
    const TensorPlace& place = point.place;
    if (tag_ == Symbol::none) tag_ = place.name;
    if (place.name != tag_) return;  // one loss of the training: the first
    if (!training_.empty() && place.step < training_.back().step) training_.clear();
    if (training_.size() == kMostRecords) training_.erase(training_.begin());
    training_.push_back({place.step, point.value});
    for (Track& track : tracks()) judge_up_to(track, place.step, out);
  }

  void on_validation(const LossPoint& point, Verdicts& out) {
    Track* const track = reach(point.place, out);
    if (track == nullptr) return;
    std::vector<Validation>& waiting = track->memory.waiting;
    if (waiting.empty() || waiting.back().step != point.place.step) {
      if (waiting.size() == kMostValidations) waiting.erase(waiting.begin());
      waiting.push_back({point.place.step, point.place.at, 0, 0});
    }
    waiting.back().sum += point.value;
    ++waiting.back().count;
    if (!training_.empty()) judge_up_to(*track, training_.back().step, out);
  }

  // A validation is complete when the training has gone on, whichever file was read first.
  void judge_up_to(Track& track, std::int64_t step, Verdicts& out) {
    Memory& memory = track.memory;
    while (!memory.waiting.empty() && memory.waiting.front().step < step) {
      const Validation validation = memory.waiting.front();
      memory.waiting.erase(memory.waiting.begin());
      judge_validation(track, validation, out);
      memory.judged = validation.step;
    }
  }

  void judge_validation(Track& track, const Validation& validation, Verdicts& out) {
    Memory& memory = track.memory;
    const double training = mean_between(memory.judged, validation.step);
    if (validation.step < params_.start_step || !(training > 0)) return;
    const double mean = validation.sum / static_cast<double>(validation.count);
    const double ratio = (mean - training) / training;
    memory.above = ratio > params_.ratio_threshold ? memory.above + 1 : 0;
    const TensorPlace place{track.name, track.mode, validation.step, validation.at};
    judge(track, place, {memory.above > params_.patience, ratio, params_.ratio_threshold}, out);
  }

  // Of the training losses after one step and up to another; without any, the one before.
  double mean_between(std::int64_t after, std::int64_t last) const {
    double sum = 0;
    std::size_t count = 0;
    double before = 0;
    for (const Record& record : training_) {
      if (record.step > last) break;
      before = record.loss;
      if (record.step <= after) continue;
      sum += record.loss;
      ++count;
    }
    return count == 0 ? before : sum / static_cast<double>(count);
  }

  Params params_;
  TensorSelection losses_;
  std::vector<Record> training_;
  Symbol tag_ = Symbol::none;  // whose losses these are
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<Overfit, Params>(
      {.id = "overfit",
       .scope = Scope::rank,
       .summary = "The validation loss is above the training loss.",
       .doc = "SageMaker's Overfit: the mean of a validation's losses exceeds the mean of the "
              "training losses since the validation before by `ratio_threshold` of it, in more "
              "than `patience` validations in a row. Saved tensors of one element, and losses "
              "that the job logs.",
       .on_by_default = false},
      {text_field("tensor_regex", &Params::tensor_regex,
                  "Regular expressions that find the losses, comma separated; empty: the "
                  "collection losses.",
                  check_regexes),
       field("start_step", &Params::start_step, 0, 1e18, "First step that is judged."),
       field("patience", &Params::patience, 0, 1e9, "Validations in a row that are tolerated."),
       field("ratio_threshold", &Params::ratio_threshold, 0, 1e300,
             "Excess of the validation over the training loss that is tolerated, in parts of "
             "the latter.")});
  return spec;
}

}  // namespace trainwatch::overfit
