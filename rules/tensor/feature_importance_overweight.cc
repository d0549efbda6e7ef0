// SPDX-License-Identifier: Apache-2.0
// A few features of an XGBoost model outweigh the others; SageMaker's FeatureImportanceOverweight,
// see docs/rules/feature_importance_overweight.md.
#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "rules/tensor/tensor_rule.h"

namespace trainwatch::feature_importance_overweight {
namespace {

constexpr std::size_t kMostFeatures = 64;
constexpr TensorPhrases kPhrases[] = {
    {.one = "rests on a few features",
     .many = "rest on a few features",
     .figure = "share of the heaviest features",
     .unit = "ratio",
     .next = "Look whether these features give the label away, and whether the model is as good "
             "without them.",
     .thing = "model"}};

struct Params {
  double threshold = 0.8;
  std::int64_t nfeatures = 3;
  std::string tensor_regex = ".*feature_importance/weight";
};

// The largest of the numbers that were added, and the sum of all.
struct Heaviest {
  std::vector<double> largest;  // descending
  double total = 0;

  void add(double value, std::size_t most) {
    total += value;
    const auto place = std::ranges::upper_bound(largest, value, std::greater<>());
    if (largest.size() < most) {
      largest.insert(place, value);
    } else if (place != largest.end()) {
      std::move_backward(place, largest.end() - 1, largest.end());
      *place = value;
    }
  }
  double share() const {
    double sum = 0;
    for (const double value : largest) sum += value;
    return total > 0 ? sum / total : 0;
  }

  bool possible() const { return largest.size() <= kMostFeatures; }
};

// smdebug's hook for XGBoost saves a tensor of one element for each feature. They are judged
// together when the next step has come.
class FeatureImportanceOverweight final : public TensorRule<Heaviest> {
 public:
  FeatureImportanceOverweight(const Params& params, const RuleContext& context)
      : TensorRule(context), params_(params), selection_("", params.tensor_regex) {}

  void on_tensor(const Tensor& tensor, Verdicts& out) override {
    const TensorStatistics& found = tensor.statistics;
    if (found.count == 0 || found.finite() != found.count) return;
    if (!selection_.has(tensor, interner())) return;
    if (found.count == 1) return on_feature(tensor, out);
    const std::span<const double> values = elements(tensor);
    if (values.empty()) return;
    Heaviest all;
    for (const double value : values) all.add(value, most());
    const TensorPlace place = place_of(tensor);
    if (Track* const track = reach(place, out)) judge_share(*track, place, all, out);
  }

 protected:
  std::span<const TensorPhrases> phrases() const override { return kPhrases; }
  std::string_view wanted() const override { return "feature importance"; }

 private:
  std::size_t most() const { return static_cast<std::size_t>(params_.nfeatures); }

  void on_feature(const Tensor& tensor, Verdicts& out) {
    TensorPlace place = place_of(tensor);
    place.name = Symbol::none;  // of the model
    const auto known = std::ranges::find_if(tracks(), [&](const Track& track) {
      return track.name == place.name && track.mode == place.mode;
    });
    if (known != tracks().end() && place.step > known->latest && known->memory.total > 0) {
      const TensorPlace before{place.name, place.mode, known->latest, place.at};
      judge_share(*known, before, known->memory, out);
      known->memory = Heaviest{};
    }
    if (Track* const track = reach(place, out)) {
      track->memory.add(tensor.statistics.mean, most());
    }
  }
  void judge_share(Track& track, const TensorPlace& place, const Heaviest& all, Verdicts& out) {
    const double share = all.share();
    judge(track, place, {share > params_.threshold, share, params_.threshold}, out);
  }

  Params params_;
  TensorSelection selection_;
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<FeatureImportanceOverweight, Params>(
      {.id = "feature_importance_overweight",
       .scope = Scope::rank,
       .summary = "A few features of an XGBoost model outweigh the others.",
       .doc = "SageMaker's FeatureImportanceOverweight: the `nfeatures` largest elements of the "
              "feature importance are more than `threshold` of their sum.",
       .on_by_default = false},
      {field("threshold", &Params::threshold, 0, 1, "Largest share of the sum."),
       field("nfeatures", &Params::nfeatures, 1, kMostFeatures, "Number of the heaviest features."),
       text_field("tensor_regex", &Params::tensor_regex,
                  "Regular expressions that find the feature importance, comma separated.",
                  check_regexes)});
  return spec;
}

}  // namespace trainwatch::feature_importance_overweight
