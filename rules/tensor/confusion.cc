// SPDX-License-Identifier: Apache-2.0
// A classifier confuses classes; SageMaker's Confusion, see docs/rules/confusion.md.
#include <algorithm>
#include <string>
#include <vector>

#include "rules/tensor/labelled_predictions.h"
#include "rules/tensor/tensor_rule.h"

namespace trainwatch::confusion {
namespace {

constexpr TensorPhrases kPhrases[] = {
    {.pattern = "off_diagonal",
     .one = "has a class that is often taken for another",
     .many = "have a class that is often taken for another",
     .figure = "share of a prediction's samples that have one other label",
     .unit = "ratio",
     .next = "Look at samples of these two classes: their labels, and what tells them apart.",
     .thing = "label tensor"},
    {.pattern = "diagonal",
     .one = "has a class that is often predicted wrong",
     .many = "have a class that is often predicted wrong",
     .figure = "share of a prediction's samples that have its label",
     .unit = "ratio",
     .next = "Look at the samples and labels of this class.",
     .thing = "label tensor"}};

struct Params {
  std::int64_t category_no = 0;
  std::string labels = "labels";
  std::string predictions = "predictions";
  std::string labels_collection;
  std::string predictions_collection;
  double min_diag = 0.9;
  double max_off_diag = 0.1;
};

constexpr std::size_t kMostCategories = 64;

// Of the tensor of labels: how many samples have label i and prediction j.
struct Memory {
  std::size_t categories = 0;
  std::vector<std::uint64_t> counts;  // categories x categories, a row for each label

  bool possible() const {
    return categories <= kMostCategories && counts.size() == categories * categories;
  }

  void grow(std::size_t wanted) {
    std::vector<std::uint64_t> grown(wanted * wanted);
    for (std::size_t i = 0; i < categories; ++i) {
      for (std::size_t j = 0; j < categories; ++j) {
        grown[i * wanted + j] = counts[i * categories + j];
      }
    }
    counts = std::move(grown);
    categories = wanted;
  }
  std::uint64_t predicted(std::size_t as) const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < categories; ++i) sum += counts[i * categories + as];
    return sum;
  }
};

class Confusion final : public TensorRule<Memory> {
 public:
  Confusion(const Params& params, const RuleContext& context)
      : TensorRule(context),
        params_(params),
        labels_(params.labels_collection, params.labels),
        predictions_(params.predictions_collection, params.predictions) {}

  void on_tensor(const Tensor& tensor, Verdicts& out) override {
    const bool labels = labels_.has(tensor, interner());
    if (tensor.statistics.count == 0 || (!labels && !predictions_.has(tensor, interner()))) return;
    if (elements(tensor).empty()) return;
    if (labels) tag_ = tensor.name;
    if (tag_ == Symbol::none) return pairs_.predictions(tensor, true, [](auto) {});
    TensorPlace place = place_of(tensor);
    place.name = tag_;
    Track* const track = reach(place, out);
    if (track == nullptr) return;
    bool counted = false;
    const auto take = [&](LabelledPredictions::Pair pair) {
      counted = add(track->memory, pair) || counted;
    };
    labels ? pairs_.labels(tensor, take) : pairs_.predictions(tensor, true, take);
    if (counted) judge(*track, place, judged(track->memory), out);
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
  bool add(Memory& memory, LabelledPredictions::Pair pair) const {
    const auto label = static_cast<std::size_t>(pair.label);
    const auto prediction = static_cast<std::size_t>(pair.prediction);
    const std::size_t needed = std::max(label, prediction) + 1;
    const auto given = static_cast<std::size_t>(params_.category_no);
    if (needed > (given == 0 ? kMostCategories : given)) return false;
    if (needed > memory.categories) memory.grow(given == 0 ? needed : given);
    ++memory.counts[label * memory.categories + prediction];
    return true;
  }
  // The worst of the cells that are outside their limit; if none is, the lowest of the diagonal.
  TensorJudgement judged(const Memory& memory) const {
    TensorJudgement off{false, 0, params_.max_off_diag, 0};
    TensorJudgement diagonal{false, 1, params_.min_diag, 1};
    for (std::size_t j = 0; j < memory.categories; ++j) {
      const std::uint64_t predicted = memory.predicted(j);
      if (predicted == 0) continue;
      for (std::size_t i = 0; i < memory.categories; ++i) {
        const double share = static_cast<double>(memory.counts[i * memory.categories + j]) /
                             static_cast<double>(predicted);
        if (i == j) {
          diagonal.value = std::min(diagonal.value, share);
        } else {
          off.value = std::max(off.value, share);
        }
      }
    }
    diagonal.bad = diagonal.value < params_.min_diag;
    off.bad = off.value > params_.max_off_diag;
    return off.bad ? off : diagonal;
  }

  Params params_;
  TensorSelection labels_;
  TensorSelection predictions_;
  LabelledPredictions pairs_;
  Symbol tag_ = Symbol::none;  // of the labels
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<Confusion, Params>(
      {.id = "confusion",
       .scope = Scope::rank,
       .summary = "A classifier confuses classes.",
       .doc = "SageMaker's Confusion: of the samples that are predicted as a class, more than "
              "`max_off_diag` have one other label, or less than `min_diag` have its own.",
       .on_by_default = false},
      {field("category_no", &Params::category_no, 0, kMostCategories,
             "Number of classes; 0: as many as there are, up to 64."),
       text_field("labels", &Params::labels,
                  "Regular expressions that find the labels, comma separated.", check_regexes),
       text_field("predictions", &Params::predictions,
                  "Regular expressions that find the predictions, comma separated.", check_regexes),
       text_field("labels_collection", &Params::labels_collection,
                  "And collections of the labels, comma separated.", check_collections),
       text_field("predictions_collection", &Params::predictions_collection,
                  "And collections of the predictions, comma separated.", check_collections),
       field("min_diag", &Params::min_diag, 0, 1,
             "Least share of the samples of a predicted class that have its label."),
       field("max_off_diag", &Params::max_off_diag, 0, 1,
             "Largest share of them that have one other label.")});
  return spec;
}

}  // namespace trainwatch::confusion
