// SPDX-License-Identifier: Apache-2.0
// Some classes are rare, or mostly predicted wrong; SageMaker's ClassImbalance, see
// docs/rules/class_imbalance.md.
#include <algorithm>
#include <array>
#include <string>

#include "rules/tensor/labelled_predictions.h"
#include "rules/tensor/tensor_rule.h"

namespace trainwatch::class_imbalance {
namespace {

constexpr TensorPhrases kPhrases[] = {
    {.pattern = "imbalance",
     .one = "has classes of very different size",
     .many = "have classes of very different size",
     .figure = "largest class over smallest",
     .unit = "ratio",
     .next = "Sample rare classes more often, or give them more weight in the loss.",
     .thing = "label tensor"},
    {.pattern = "misprediction",
     .one = "has a class that is mostly predicted wrong",
     .many = "have a class that is mostly predicted wrong",
     .figure = "wrong predictions of the class",
     .unit = "ratio",
     .next = "Look at the samples and labels of this class; sample it more often, or give it more "
             "weight in the loss.",
     .thing = "label tensor"}};

struct Params {
  double threshold_imbalance = 10;
  double threshold_misprediction = 0.7;
  std::int64_t samples = 500;
  bool argmax = false;
  std::string labels_regex = ".*labels";
  std::string predictions_regex = ".*predictions";
};

// Of the tensor of labels.
struct Memory {
  std::vector<std::uint64_t> count;  // by class
  std::vector<std::uint64_t> wrong;
  std::uint64_t samples = 0;

  bool possible() const {
    return count.size() <= LabelledPredictions::kMostClasses && wrong.size() == count.size();
  }
};

class ClassImbalance final : public TensorRule<Memory> {
 public:
  ClassImbalance(const Params& params, const RuleContext& context)
      : TensorRule(context),
        params_(params),
        labels_("", params.labels_regex),
        predictions_("", params.predictions_regex) {}

  void on_tensor(const Tensor& tensor, Verdicts& out) override {
    const bool labels = labels_.has(tensor, interner());
    if (tensor.statistics.count == 0 || (!labels && !predictions_.has(tensor, interner()))) return;
    if (elements(tensor).empty()) return;
    if (labels) tag_ = tensor.name;
    if (tag_ == Symbol::none) return pairs_.predictions(tensor, params_.argmax, [](auto) {});
    TensorPlace place = place_of(tensor);
    place.name = tag_;
    Track* const track = reach(place, out);
    if (track == nullptr) return;
    const auto take = [&](LabelledPredictions::Pair pair) { add(track->memory, pair); };
    const std::uint64_t before = track->memory.samples;
    labels ? pairs_.labels(tensor, take) : pairs_.predictions(tensor, params_.argmax, take);
    const bool enough = track->memory.samples >= static_cast<std::uint64_t>(params_.samples);
    if (enough && track->memory.samples > before) judge(*track, place, judged(track->memory), out);
  }

  void state(StateIo& io) override {
    TensorRule::state(io);
    io(pairs_);
    io(tag_);
    if (!pairs_.possible() || !is_known(tag_)) io.fail();
  }

 protected:
  std::span<const TensorPhrases> phrases() const override { return kPhrases; }
  std::string_view wanted() const override { return "labels and predictions"; }

 private:
  static void add(Memory& memory, LabelledPredictions::Pair pair) {
    const auto label = static_cast<std::size_t>(pair.label);
    if (label >= memory.count.size()) {
      memory.count.resize(label + 1);
      memory.wrong.resize(label + 1);
    }
    ++memory.count[label];
    memory.wrong[label] += pair.label == pair.prediction ? 0 : 1;
    ++memory.samples;
  }
  TensorJudgement judged(const Memory& memory) const {
    std::uint64_t most = 0;
    std::uint64_t fewest = memory.samples;
    double worst = 0;
    for (std::size_t i = 0; i < memory.count.size(); ++i) {
      if (memory.count[i] == 0) continue;
      most = std::max(most, memory.count[i]);
      fewest = std::min(fewest, memory.count[i]);
      worst = std::max(worst,
                       static_cast<double>(memory.wrong[i]) / static_cast<double>(memory.count[i]));
    }
    const double ratio =
        static_cast<double>(most) / static_cast<double>(std::max<std::uint64_t>(fewest, 1));
    if (ratio > params_.threshold_imbalance) {
      return {true, ratio, params_.threshold_imbalance, 0};
    }
    return {worst > params_.threshold_misprediction, worst, params_.threshold_misprediction, 1};
  }

  Params params_;
  TensorSelection labels_;
  TensorSelection predictions_;
  LabelledPredictions pairs_;
  Symbol tag_ = Symbol::none;  // of the labels
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<ClassImbalance, Params>(
      {.id = "class_imbalance",
       .scope = Scope::rank,
       .summary = "Some classes are rare, or mostly predicted wrong.",
       .doc =
           "SageMaker's ClassImbalance: after `samples` labels, the most frequent class has more "
           "than `threshold_imbalance` times as many as the rarest, or more than "
           "`threshold_misprediction` of a class is predicted wrong.",
       .on_by_default = false},
      {field("threshold_imbalance", &Params::threshold_imbalance, 1, 1e300,
             "How many times as frequent as the rarest class the most frequent one may be."),
       field("threshold_misprediction", &Params::threshold_misprediction, 0, 1,
             "Share of a class that may be predicted wrong."),
       field("samples", &Params::samples, 1, 1e9, "Labels that are needed for a judgement."),
       bool_field("argmax", &Params::argmax,
                  "Predictions are a figure for each class; the largest is the prediction."),
       text_field("labels_regex", &Params::labels_regex,
                  "Regular expressions that find the labels, comma separated.", check_regexes),
       text_field("predictions_regex", &Params::predictions_regex,
                  "Regular expressions that find the predictions, comma separated.",
                  check_regexes)});
  return spec;
}

}  // namespace trainwatch::class_imbalance
