// SPDX-License-Identifier: Apache-2.0
// What the loggers of training frameworks write into files of lines and of rows. Samples of each
// are in tests/unit/decode/json_lines_test.cc and csv_test.cc. Of those that know a file, the one
// that asks for most members wins, and of equal ones the first.
#include <algorithm>
#include <iterator>
#include <utility>

#include "pipeline/decode/declared/declaration.h"

namespace trainwatch {
namespace {

using enum ScalarKind;

std::vector<FormatDeclaration> json_presets() {
  return {
      // A record at the beginning and one at the end of each span, of every rank.
      {.name = "torchtitan_structured",
       .kind = DeclaredKind::json,
       .files = {"*.global_rank_*.jsonl"},
       .has = {"log_type_name", "time_us", "relative_step"},
       .step = "step",
       .time = "time_us",
       .time_unit = TimeUnit::microseconds,
       .rank = "rank",
       .node = "host_name",
       .process = "pid",
       .thread = "tid",
       .spans = {.name_key = "log_type_name",
                 .end = "_end",
                 .ms_key = "value",
                 .role_key = "source",
                 .helpers = {"generator", "rollout", "sampler", "grader", "scorer", "reward",
                             "router", "vllm", "controller"},
                 .kinds = {{"step", SpanKind::step},
                           {"fetching_batch", SpanKind::data_wait},
                           {"wait_for_training_batch", SpanKind::data_wait},
                           {"fwd_bwd", SpanKind::forward},
                           {"optim", SpanKind::optimizer},
                           {"checkpoint_save", SpanKind::checkpoint},
                           {"eval", SpanKind::evaluation},
                           {"gc_collect", SpanKind::garbage_collection}}}},
      {.name = "llama_factory",
       .kind = DeclaredKind::json,
       .files = {"trainer_log.jsonl"},
       .has = {"current_steps", "total_steps"},
       .fields = {{"loss", loss},
                  {"eval_loss", validation_loss},
                  {"lr", learning_rate},
                  {"learning_rate", learning_rate},
                  {"epoch", epoch},
                  {"throughput", tokens_per_second, 1, true},
                  {"elapsed_time", elapsed_seconds},
                  {"total_steps", total_steps}},
       .step = "current_steps"},
      // Times are medians of the last 20 iterations.
      {.name = "detectron2",
       .kind = DeclaredKind::json,
       .files = {"metrics.json"},
       .has = {"iteration", "data_time"},
       .fields = {{"total_loss", loss},
                  {"time", step_seconds, 1, true},
                  {"data_time", data_seconds, 1, true},
                  {"lr", learning_rate}},
       .step = "iteration",
       .others = true},
      // Records of an evaluation have no `iter`, and may count epochs as steps.
      {.name = "mmengine",
       .kind = DeclaredKind::json,
       .files = {"scalars.json", "20*_*.json"},
       .has = {"step", "iter", "time", "data_time"},
       .fields = {{"loss", loss},
                  {"time", step_seconds, 1, true},
                  {"data_time", data_seconds, 1, true},
                  {"lr", learning_rate},
                  {"grad_norm", grad_norm},
                  {"memory", memory_bytes, 1 << 20},
                  {"epoch", epoch}},
       .step = "step",
       .others = true},
      // MMCV 1: `iter` is one of an epoch of unknown length, so that there is no step.
      {.name = "mmcv",
       .kind = DeclaredKind::json,
       .files = {"*.log.json"},
       .has = {"mode", "epoch", "iter", "time", "data_time"},
       .fields = {{"loss", loss},
                  {"time", step_seconds, 1, true},
                  {"data_time", data_seconds, 1, true},
                  {"lr", learning_rate},
                  {"grad_norm", grad_norm},
                  {"memory", memory_bytes, 1 << 20},
                  {"epoch", epoch}}},
  };
}

std::vector<FormatDeclaration> csv_presets() {
  return {
      {.name = "lightning_csv",
       .kind = DeclaredKind::csv,
       .files = {"metrics.csv"},
       .has = {"step", "epoch"},
       .fields = {{"epoch", epoch}},
       .step = "step",
       .others = true},
      {.name = "ultralytics",
       .kind = DeclaredKind::csv,
       .files = {"results.csv"},
       .has = {"epoch", "lr/pg0"},
       .fields = {{"train/*loss", loss},
                  {"val/*loss", validation_loss},
                  {"lr/*", learning_rate},
                  {"time", elapsed_seconds}},
       .step = "epoch",
       .others = true},
      {.name = "yolov5",
       .kind = DeclaredKind::csv,
       .files = {"results.csv"},
       .has = {"epoch", "x/lr0"},
       .fields = {{"train/*loss", loss}, {"val/*loss", validation_loss}, {"x/lr*", learning_rate}},
       .step = "epoch",
       .others = true},
      {.name = "timm_summary",
       .kind = DeclaredKind::csv,
       .files = {"summary.csv"},
       .has = {"epoch", "train_loss"},
       .step = "epoch",
       .others = true},
      {.name = "keras_csv",
       .kind = DeclaredKind::csv,
       .files = {"*.csv"},
       .has = {"epoch", "loss"},
       .step = "epoch",
       .others = true},
      // Stable-Baselines3: its frames per second are time steps.
      {.name = "stable_baselines",
       .kind = DeclaredKind::csv,
       .files = {"progress.csv"},
       .has = {"time/total_timesteps"},
       .fields = {{"train/loss", loss},
                  {"train/*loss", loss},
                  {"train/learning_rate", learning_rate},
                  {"time/fps", steps_per_second},
                  {"time/time_elapsed", elapsed_seconds}},
       .step = "time/total_timesteps",
       .others = true},
      // A file for each scalar; DVCLive's plots look the same.
      {.name = "deepspeed_csv",
       .kind = DeclaredKind::csv,
       .files = {"*.csv", "*.tsv"},
       .has = {"step"},
       .columns = 2,
       .fields = {{"*train_loss", loss}, {"*/lr", learning_rate}, {"*loss_scale", loss_scale}},
       .step = "step",
       .others = true},
  };
}

}  // namespace

std::vector<FormatDeclaration> file_presets() {
  std::vector<FormatDeclaration> all = json_presets();
  std::vector<FormatDeclaration> rows = csv_presets();
  std::ranges::move(rows, std::back_inserter(all));
  return all;
}

}  // namespace trainwatch
