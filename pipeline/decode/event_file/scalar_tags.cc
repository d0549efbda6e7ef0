// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/event_file/scalar_tags.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>

#include "pipeline/decode/path_metadata.h"

namespace trainwatch {
namespace {

struct Tag {
  std::string_view name;  // in lower case, behind "train/"
  ScalarMeaning meaning;
};

// Megatron-LM, NeMo, torchtitan, Keras, Lightning, Hugging Face, clu.
constexpr std::array kTags = {
    Tag{"loss", {ScalarKind::loss}},
    Tag{"train_loss", {ScalarKind::loss}},
    Tag{"training_loss", {ScalarKind::loss}},
    Tag{"total_loss", {ScalarKind::loss}},
    Tag{"lm loss", {ScalarKind::loss}},
    Tag{"epoch_loss", {ScalarKind::loss}},
    Tag{"batch_loss", {ScalarKind::loss}},
    Tag{"reduced_train_loss", {ScalarKind::loss}},
    Tag{"loss_step", {ScalarKind::loss}},
    Tag{"train_loss_step", {ScalarKind::loss}},
    Tag{"loss_metrics/global_avg_loss", {ScalarKind::loss}},
    Tag{"grad_norm", {ScalarKind::grad_norm}},
    Tag{"grad-norm", {ScalarKind::grad_norm}},
    Tag{"lr", {ScalarKind::learning_rate}},
    Tag{"learning_rate", {ScalarKind::learning_rate}},
    Tag{"learning-rate", {ScalarKind::learning_rate}},
    Tag{"epoch_learning_rate", {ScalarKind::learning_rate}},
    Tag{"iteration-time", {ScalarKind::step_seconds}},
    Tag{"step_time", {ScalarKind::step_seconds}},
    Tag{"train_step_timing in s", {ScalarKind::step_seconds}},
    Tag{"time_metrics/end_to_end(s)", {ScalarKind::step_seconds}},
    Tag{"data_time", {ScalarKind::data_seconds}},
    Tag{"time_metrics/data_loading(s)", {ScalarKind::data_seconds}},
    Tag{"throughput(tps)", {ScalarKind::tokens_per_second}},
    Tag{"tokens_per_second", {ScalarKind::tokens_per_second}},
    Tag{"samples_per_second", {ScalarKind::samples_per_second}},
    Tag{"train_samples_per_second", {ScalarKind::samples_per_second}},
    Tag{"steps_per_sec", {ScalarKind::steps_per_second}},
    Tag{"train_steps_per_second", {ScalarKind::steps_per_second}},
    Tag{"batch_steps_per_second", {ScalarKind::steps_per_second}},
    Tag{"epoch_steps_per_second", {ScalarKind::steps_per_second}},
    Tag{"throughput", {ScalarKind::tflops_per_gpu}},
    Tag{"tflops_per_gpu", {ScalarKind::tflops_per_gpu}},
    Tag{"mfu(%)", {ScalarKind::mfu_ratio, 0.01}},
    Tag{"mfu", {ScalarKind::mfu_ratio}},
    Tag{"loss_scale", {ScalarKind::loss_scale}},
    Tag{"loss-scale", {ScalarKind::loss_scale}},
    Tag{"epoch", {ScalarKind::epoch}},
};

constexpr std::string_view kTraining[] = {"train/", "training/"};
constexpr std::string_view kEvaluation[] = {"val/",  "val_",        "eval/",       "eval_",
                                            "test/", "validation/", "validation_", "valid/"};

bool remove_one_of(std::string_view& text, auto&& prefixes) {
  for (const std::string_view prefix : prefixes) {
    if (!text.starts_with(prefix)) continue;
    text.remove_prefix(prefix.size());
    return true;
  }
  return false;
}

ScalarMeaning named(std::string_view name) {
  const auto* const found = std::ranges::find(kTags, name, &Tag::name);
  if (found != kTags.end()) return found->meaning;
  if (name.starts_with("lr-")) return {ScalarKind::learning_rate};  // Lightning: of an optimizer
  return {};
}

}  // namespace

bool ScalarMeaning::is_mean() const {
  switch (kind) {
    case ScalarKind::step_seconds:
    case ScalarKind::data_seconds:
    case ScalarKind::tokens_per_second:
    case ScalarKind::samples_per_second:
    case ScalarKind::steps_per_second:
    case ScalarKind::tflops_per_gpu:
    case ScalarKind::mfu_ratio:
      return true;
    default:
      return false;
  }
}

std::string name_in_job(std::string_view tag, std::string_view path) {
  return (is_validation_of_a_job(path) ? "validation/" : "") + std::string(tag);
}

ScalarMeaning meaning_of_tag(std::string_view tag, std::string_view path) {
  std::string lower(tag);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  std::string_view name = lower;
  const bool evaluates = remove_one_of(name, kEvaluation) ||
                         path.find("/validation/") != std::string_view::npos ||
                         path.find("/eval/") != std::string_view::npos;
  if (!evaluates) remove_one_of(name, kTraining);
  const ScalarMeaning meaning = named(name);
  if (!evaluates) return meaning;
  return meaning.kind == ScalarKind::loss ? ScalarMeaning{ScalarKind::validation_loss}
                                          : ScalarMeaning{};
}

}  // namespace trainwatch
