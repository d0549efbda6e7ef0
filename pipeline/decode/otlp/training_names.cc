// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/otlp/training_names.h"

#include <algorithm>
#include <iterator>

namespace trainwatch {
namespace {

using Stage = OtlpSpanMeaning::Stage;

struct NamedSpan {
  std::string_view name;
  OtlpSpanMeaning meaning;
};

// `megatron.train.first_iteration` lies around the first `iteration`, and the default preset has it
// without any other step: it is none. A save without `exposed_save` around it is of the older
// names; `save.finalize` is what an asynchronous one costs the training later.
constexpr NamedSpan kSpans[] = {
    {"megatron.train.iteration", {SpanKind::step}},
    {"megatron.train.gc_collect", {SpanKind::garbage_collection}},
    {"megatron.checkpoint.save", {SpanKind::checkpoint}},
    {"megatron.checkpoint.save.finalize", {SpanKind::checkpoint}},
    {"megatron.checkpoint.load", {SpanKind::other, Stage::restore}},
    {"megatron.checkpoint.exit_finalize", {SpanKind::other, Stage::over}},
    {"megatron.evaluate", {SpanKind::evaluation}},
    {"megatron.startup.dataloader", {SpanKind::data_init, Stage::startup}},
    {"nv.dl.training.iteration", {SpanKind::step}},
    {"nv.dl.training.iteration.forward_backward", {SpanKind::forward}},
    {"nv.dl.training.iteration.optimizer_step", {SpanKind::optimizer}},
    {"nv.dl.training.checkpoint.exposed_save", {SpanKind::checkpoint}},
    {"nv.dl.training.checkpoint.save.finalize", {SpanKind::checkpoint}},
    {"nv.dl.training.checkpoint.load", {SpanKind::other, Stage::restore}},
    {"nv.dl.training.evaluate", {SpanKind::evaluation}},
    {"nv.mlm.checkpoint.exit_finalize", {SpanKind::other, Stage::over}},
    {"nv.dl.training.startup", {SpanKind::other, Stage::startup}},
    {"nv.dl.training.startup.dataloader", {SpanKind::data_init, Stage::startup}},
};
constexpr std::string_view kStartups[] = {"megatron.startup.", "nv.dl.training.startup."};

struct NamedMetric {
  std::string_view name;
  OtlpMetricMeaning meaning;
};

constexpr NamedMetric kMetrics[] = {
    {"megatron.training.step_duration_ms",
     {ScalarKind::step_seconds, 1e-3, OtlpCounter::step_duration}},
    {"megatron.training.loss", {ScalarKind::loss}},
    {"megatron.training.throughput_tflops", {ScalarKind::tflops_per_gpu}},
    {"megatron.training.throughput_tps", {ScalarKind::tokens_per_second}},
    {"megatron.training.tokens_per_sec", {ScalarKind::tokens_per_second}},
    {"megatron.training.grad_norm", {ScalarKind::grad_norm}},
    {"megatron.training.learning_rate", {ScalarKind::learning_rate}},
    {"megatron.training.memory_allocated_gb", {ScalarKind::memory_bytes, 1e9}},
    {"megatron.training.skipped_iters", {ScalarKind::skipped_steps, 1, OtlpCounter::skipped_steps}},
    {"nv.dl.training.tokens.processed", {ScalarKind::tokens_per_second, 1, OtlpCounter::tokens}},
};

struct NamedKind {
  std::string_view name;
  ScalarKind kind;
};

constexpr NamedKind kNumerics[] = {
    {"learning_rate", ScalarKind::learning_rate},
    {"skipped_iterations", ScalarKind::skipped_steps},
    {"nan_iterations", ScalarKind::nan_steps},
    {"loss_scale", ScalarKind::loss_scale},
};

}  // namespace

OtlpSpanMeaning meaning_of_otlp_span(std::string_view name) {
  const auto* const known = std::ranges::find(kSpans, name, &NamedSpan::name);
  if (known != std::end(kSpans)) return known->meaning;
  const bool startup = std::ranges::any_of(
      kStartups, [name](std::string_view prefix) { return name.starts_with(prefix); });
  return {SpanKind::other, startup ? Stage::startup : Stage::other};
}

bool is_step_attribute(std::string_view key) {
  return key == "megatron.iteration" || key == "dl.iteration" || key == "nv.dl.training.step";
}

OtlpMetricMeaning meaning_of_otlp_metric(std::string_view name) {
  const auto* const known = std::ranges::find(kMetrics, name, &NamedMetric::name);
  return known != std::end(kMetrics) ? known->meaning : OtlpMetricMeaning{};
}

ScalarKind kind_of_objective(std::string_view name) {
  return name == "lm loss" || name == "loss" ? ScalarKind::loss : ScalarKind::other;
}

ScalarKind kind_of_numeric(std::string_view name) {
  const auto* const known = std::ranges::find(kNumerics, name, &NamedKind::name);
  return known != std::end(kNumerics) ? known->kind : ScalarKind::other;
}

}  // namespace trainwatch
