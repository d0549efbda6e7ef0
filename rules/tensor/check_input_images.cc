// SPDX-License-Identifier: Apache-2.0
// Input images are not normalised; SageMaker's CheckInputImages, see
// docs/rules/check_input_images.md.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "rules/tensor/tensor_rule.h"

namespace trainwatch::check_input_images {
namespace {

constexpr std::size_t kMostChannels = 64;
constexpr TensorPhrases kPhrases[] = {
    {.one = "is not normalised",
     .many = "are not normalised",
     .figure = "largest absolute mean of a channel",
     .next = "Subtract the mean of each channel over the training data, and divide by its standard "
             "deviation.",
     .thing = "input"}};

struct Params {
  double threshold_mean = 0.2;
  std::int64_t threshold_samples = 500;
  std::string regex = ".*hybridsequential0_input_0";
  std::int64_t channel = 1;
};

struct Memory {
  std::vector<double> sums;  // of the means of each image, by channel
  std::uint64_t images = 0;

  bool possible() const { return sums.size() <= kMostChannels; }
};

class CheckInputImages final : public TensorRule<Memory> {
 public:
  CheckInputImages(const Params& params, const RuleContext& context)
      : TensorRule(context), params_(params), selection_("", params.regex) {}

  void on_tensor(const Tensor& tensor, Verdicts& out) override {
    const auto axis = static_cast<std::size_t>(params_.channel);
    if (axis >= tensor.shape.size() || tensor.statistics.count == 0) return;
    if (tensor.statistics.finite() != tensor.statistics.count) return;
    const auto channels = static_cast<std::size_t>(tensor.shape[axis]);
    if (channels == 0 || channels > kMostChannels) return;
    if (!selection_.has(tensor, interner())) return;
    const std::span<const double> values = elements(tensor);
    if (values.empty()) return;
    const TensorPlace place = place_of(tensor);
    Track* const track = reach(place, out);
    if (track == nullptr) return;
    add(track->memory, tensor, values, axis, channels);
    if (track->memory.images < static_cast<std::uint64_t>(params_.threshold_samples)) return;
    const double mean = largest_mean(track->memory);
    judge(*track, place, {mean > params_.threshold_mean, mean, params_.threshold_mean}, out);
  }

 protected:
  std::span<const TensorPhrases> phrases() const override { return kPhrases; }
  std::string_view wanted() const override { return "input images"; }

 private:
  static void add(Memory& memory, const Tensor& tensor, std::span<const double> values,
                  std::size_t axis, std::size_t channels) {
    if (memory.sums.size() != channels) {
      memory.sums.assign(channels, 0);
      memory.images = 0;
    }
    std::size_t behind = 1;  // elements from one channel to the next
    for (std::size_t i = axis + 1; i < tensor.shape.size(); ++i) {
      behind *= static_cast<std::size_t>(tensor.shape[i]);
    }
    const std::size_t images = axis == 0 ? 1 : static_cast<std::size_t>(tensor.shape[0]);
    if (behind * channels == 0 || values.size() % (behind * channels) != 0) return;
    const double per_channel = static_cast<double>(values.size() / channels);
    for (std::size_t run = 0; run < values.size() / behind; ++run) {
      double sum = 0;
      for (const double value : values.subspan(run * behind, behind)) sum += value;
      memory.sums[run % channels] += sum * static_cast<double>(images) / per_channel;
    }
    memory.images += images;
  }
  static double largest_mean(const Memory& memory) {
    double largest = 0;
    for (const double sum : memory.sums) largest = std::max(largest, std::fabs(sum));
    return largest / static_cast<double>(memory.images);
  }

  Params params_;
  TensorSelection selection_;
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<CheckInputImages, Params>(
      {.id = "check_input_images",
       .scope = Scope::rank,
       .summary = "Input images are not normalised.",
       .doc =
           "SageMaker's CheckInputImages: after `threshold_samples` images the mean of a channel "
           "over all of them is farther from 0 than `threshold_mean`.",
       .on_by_default = false},
      {field("threshold_mean", &Params::threshold_mean, 0, 1e300,
             "Largest absolute mean of a channel."),
       field("threshold_samples", &Params::threshold_samples, 1, 1e9,
             "Images that are needed for a judgement."),
       text_field("regex", &Params::regex,
                  "Regular expressions that find the input images, comma separated.",
                  check_regexes),
       field("channel", &Params::channel, 0, 15, "Axis of the channels; the first is 0.")});
  return spec;
}

}  // namespace trainwatch::check_input_images
