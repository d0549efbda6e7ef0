// SPDX-License-Identifier: Apache-2.0
// What the writers of training logs print. The sample of each in tests/unit/decode/console_test.cc
// is as its writer prints it. In the order in which they win where as many fields are found.
#include "pipeline/decode/declared/declaration.h"

namespace trainwatch {

std::vector<FormatDeclaration> console_presets() {
  using enum ScalarKind;
  return {
      {.name = "megatron",
       .has = {"elapsed time per iteration (ms)"},
       .line =
           R"((?:\[(?P<time>[-0-9]+ [0-9:.]+)\] +)?iteration +(?P<step>\d+)/ *(?P<total>\d+) \|)",
       .fields =
           {
               {"elapsed time per iteration (ms)", step_seconds, 1e-3, true},
               {"lm loss", loss},
               {"lm_loss", loss},
               {"grad norm", grad_norm},
               {"learning rate", learning_rate},
               {"throughput per GPU (TFLOP/s/GPU)", tflops_per_gpu, 1, true},
               {"samples/sec", samples_per_second, 1, true},
               {"loss scale", loss_scale},
               {"number of skipped iterations", skipped_steps},
               {"number of nan iterations", nan_steps},
               {"global batch size", step_size},
               {"curriculum seqlen", step_size},
               {"total", total_steps, 1, false, "iterations"},
           },
       .end = {"[after training is done]", "exiting program at iteration"},
       .marks = {"using world size: ", "ing checkpoint at iter", " ....."}},
      // `skipped` counts from the start of the job.
      {.name = "deepspeed",
       .has = {", skipped=", "RunningAvgSamplesPerSec=", "iter time (s):"},
       .line =
           R"((?:\[(?P<time>\d+-\d+-\d+ [0-9:]+),\d+\].*)?steps?[=:] ?(?P<step>\d+),? (?:skipped=|RunningAvg|loss: .*iter time))",
       .fields =
           {
               {"loss", loss},
               {"iter time (s)", step_seconds, 1, true},
               {"samples/sec", samples_per_second, 1, true},
               {"CurrSamplesPerSec", samples_per_second, 1, true},
               {"lr", learning_rate},
               {"MemAllocated", memory_bytes},
           }},
      {.name = "torchtitan",
       .has = {"tps: "},
       .line =
           R"((?:(?P<time>\d+-\d+-\d+ [0-9:]+(?:[,.]\d+)?) - .*)?(?:^|[^e] )step: +(?P<step>\d+) +loss: )",
       .fields =
           {
               {"loss", loss},
               {"grad_norm", grad_norm},
               {"memory", memory_bytes},
               {"tps", tokens_per_second, 1, true},
               {"tflops", tflops_per_gpu, 1, true},
               {"mfu", mfu_ratio, 1, true},
           },
       .end = {"Training completed"},
       .marks = {"the checkpoint", "Training starts"}},
      {.name = "torchtitan_validation",
       .has = {"validate step: "},
       .line =
           R"((?:(?P<time>\d+-\d+-\d+ [0-9:]+(?:[,.]\d+)?) - .*)?validate step: +(?P<step>\d+) +loss: )",
       .fields = {{"loss", validation_loss, 1, false, "validation loss"}}},
      {.name = "nemo",
       .has = {"train_step_timing in s"},
       .line = R"(\| global_step: (?P<step>\d+))",
       .fields =
           {
               {"reduced_train_loss", loss},
               {"train_step_timing in s", step_seconds},
               {"lr", learning_rate},
               {"grad_norm", grad_norm},
               {"val_loss", validation_loss},
               {"TFLOPS_per_GPU", tflops_per_gpu},
           },
       .end = {"`Trainer.fit` stopped: "}},
      {.name = "huggingface",
       .has = {"{'loss': ", "{'eval_loss': "},
       .line = R"((?:^|std(?:out|err) F |\]:? ?|^\d+: )\s*\{'(?:eval_)?loss': )",
       .fields =
           {
               {"loss", loss},
               {"grad_norm", grad_norm},
               {"learning_rate", learning_rate},
               {"epoch", epoch},
               {"eval_loss", validation_loss},
           },
       .end = {"{'train_runtime': "},
       .end_has_runtime = true,
       .step_from_bar = true},
      {.name = "detectron2",
       .has = {" data_time: "},
       .line = R"( iter: (?P<step>\d+) )",
       .fields =
           {
               {"total_loss", loss},
               {"time", step_seconds, 1, true},
               {"data_time", data_seconds, 1, true},
               {"lr", learning_rate},
           },
       .end = {"Total training time: "},
       .end_has_runtime = true},
      {.name = "timm",
       .has = {"  Data: "},
       .line = R"(Train: (?P<epoch>\d+) \[ *(?P<step>\d+)/(?P<of>\d+) )",
       .fields =
           {
               {"Loss", loss},
               {"Time", step_seconds},
               {"Data", data_seconds},
               {"LR", learning_rate},
           },
       .end = {"*** Best metric: "}},
      {.name = "fairseq",
       .has = {"num_updates"},
       .line = R"((?:(?P<time>\d+-\d+-\d+ [0-9:]+) \| .*)?num_updates"?[=:] ?"?(?P<step>\d+))",
       .fields =
           {
               {"loss", loss},
               {"valid_loss", validation_loss},
               {"wps", tokens_per_second, 1, true},
               {"ups", steps_per_second, 1, true},
               {"lr", learning_rate},
               {"gnorm", grad_norm},
               {"loss_scale", loss_scale},
           },
       .end = {"done training in "},
       .end_has_runtime = true},
      // PyTorch's ImageNet example, and what was made of it. The time and the wait are those of the
      // one step that is logged.
      {.name = "imagenet",
       .has = {"]\tTime ", "] Time ", "]\tBatch Time ", "]\tTime:"},
       .line =
           R"(^(?:.*[^\w])?Epoch:? ?\[(?P<epoch>\d+)(?:/\d+)?\]:?\s*\[ *(?P<step>\d+)(?:/ *(?P<of>\d+))?\])",
       .fields =
           {
               {"Loss", loss},
               {"Time", step_seconds},
               {"Data", data_seconds},
               {"Data Time", data_seconds},
               {"lr", learning_rate},
               {"LR", learning_rate},
           },
       .blanks = true},
      // torchvision's references, DeiT, MAE, BEiT, DINO. Times are the means of the last 20 steps.
      {.name = "metric_logger",
       .has = {"  data: "},
       .line = R"(Epoch: \[(?P<epoch>\d+)(?:/\d+)?\] +\[ *(?P<step>\d+)/(?P<of>\d+)\])",
       .fields =
           {
               {"loss", loss},
               {"grad_norm", grad_norm},
               {"lr", learning_rate},
               {"time", step_seconds, 1, true},
               {"data", data_seconds, 1, true},
               {"max mem", memory_bytes, 1 << 20},
           },
       .end = {"Training time "},
       .end_has_runtime = true},
      {.name = "nanogpt",
       .has = {", mfu "},
       .line = R"((?:iter (?P<step>\d+): loss (?P<loss>\S+), time (?P<dt>[\d.]+m?s)(?:, mfu)?))",
       .fields =
           {
               {"loss", loss},
               {"dt", step_seconds, 1, false, "time"},
               {"mfu", mfu_ratio},
           },
       .blanks = true},
      {.name = "nanogpt_evaluation",
       .has = {": train loss "},
       .line = R"(step (?P<step>\d+): train loss (?P<train>\S+?),? val loss (?P<val>\S+))",
       .fields = {{"train", loss, 1, false, "train loss"},
                  {"val", validation_loss, 1, false, "val loss"}}},
      // modded-nanogpt: the time is that of the training so far.
      {.name = "modded_nanogpt",
       .has = {" train_time:"},
       .line = R"(step:(?P<step>\d+)/(?P<total>\d+) )",
       .fields =
           {
               {"train_loss", loss},
               {"val_loss", validation_loss},
               {"train_time", elapsed_seconds},
               {"total", total_steps, 1, false, "steps"},
           }},
      {.name = "llm_c",
       .has = {" (+", " MFU | "},
       .line =
           R"(step +(?P<step>\d+)/(?P<total>\d+) \| (?:train )?loss (?P<loss>\S+) .*norm (?P<norm>\S+) .*\| lr (?P<lr>\S+) \| (?P<dt>[\d.]+ ?ms))",
       .fields =
           {
               {"loss", loss},
               {"norm", grad_norm, 1, false, "grad norm"},
               {"lr", learning_rate},
               {"dt", step_seconds, 1, false, "time"},
               {"total", total_steps, 1, false, "steps"},
           }},
      {.name = "nanochat",
       .has = {" | dt: "},
       .line = R"(step +(?P<step>\d+)(?:/(?P<total>\d+))?)",
       .fields =
           {
               {"loss", loss},
               {"dt", step_seconds},
               {"lr", learning_rate},
               {"norm", grad_norm},
               {"tok/sec", tokens_per_second},
               {"mfu", mfu_ratio, 0.01},
               {"total", total_steps, 1, false, "steps"},
           }},
      // Keras, verbose 1 and 2: a bar for each epoch, whose number is on the line before.
      {.name = "keras",
       .has = {"s/step"},
       .line = R"((?:^|[^\d/])(?P<step>\d+)/(?P<of>\d+) .*?(?P<dt>\d+[mu]?s)/step)",
       .fields =
           {
               {"loss", loss},
               {"val_loss", validation_loss},
               {"dt", step_seconds, 1, true, "time/step"},
               {"lr", learning_rate},
               {"learning_rate", learning_rate},
           },
       .first_epoch = 1,
       .epoch_from_line = true},
      // MMDetection and others of OpenMMLab, of MMCV and MMEngine. Times are means.
      {.name = "mmengine",
       .has = {" data_time: "},
       .line =
           R"(Epoch ?(?:\(train\))? *\[(?P<epoch>\d+)(?:/\d+)?\] ?\[ *(?P<step>\d+)/ *(?P<of>\d+)\])",
       .fields =
           {
               {"loss", loss},
               {"time", step_seconds, 1, true},
               {"data_time", data_seconds, 1, true},
               {"lr", learning_rate},
               {"grad_norm", grad_norm},
               {"memory", memory_bytes, 1 << 20},
           },
       .blanks = true,
       .first_epoch = 1},
      {.name = "mmengine_iterations",
       .has = {" data_time: "},
       .line = R"(Iter ?(?:\(train\))? *\[ *(?P<step>\d+)/ *(?P<total>\d+)\])",
       .fields =
           {
               {"loss", loss},
               {"time", step_seconds, 1, true},
               {"data_time", data_seconds, 1, true},
               {"lr", learning_rate},
               {"grad_norm", grad_norm},
               {"memory", memory_bytes, 1 << 20},
               {"total", total_steps, 1, false, "iterations"},
           }},
      {.name = "yolox",
       .has = {"iter_time: "},
       .line = R"(epoch: (?P<epoch>\d+)/\d+, iter: (?P<step>\d+)/(?P<of>\d+),)",
       .fields =
           {
               {"total_loss", loss},
               {"iter_time", step_seconds, 1, true},
               {"data_time", data_seconds, 1, true},
               {"lr", learning_rate},
           },
       .first_epoch = 1},
      {.name = "verl",
       .has = {" - actor/", " - timing_s/"},
       .line = R"((?:^|[^\w])step:(?P<step>\d+) - )",
       .fields =
           {
               {"actor/pg_loss", loss},
               {"actor/loss", loss},
               {"critic/vf_loss", loss},
               {"actor/grad_norm", grad_norm},
               {"actor/lr", learning_rate},
               {"timing_s/step", step_seconds},
               {"perf/throughput", tokens_per_second},
               {"perf/mfu/actor", mfu_ratio},
           }},
      {.name = "rsl_rl",
       .has = {"Learning iteration "},
       .line = R"(Learning iteration (?P<step>\d+)/(?P<total>\d+))",
       .fields =
           {
               {"total", total_steps, 1, false, "iterations"},
               {"Computation", samples_per_second},
               {"Iteration time", step_seconds},
               {"Value function loss", loss},
               {"Mean value_function loss", loss},
               {"Mean value loss", loss},
               {"Surrogate loss", loss},
               {"Mean surrogate loss", loss},
           },
       .block = true},
      {.name = "maxtext",
       .has = {"completed step: "},
       .line = R"(completed step: (?P<step>\d+),)",
       .fields =
           {
               {"loss", loss},
               {"seconds", step_seconds},
               {"TFLOP/s/device", tflops_per_gpu},
               {"Tokens/s/device", tokens_per_second},
           }},
      // CommonLoopUtils: the writer that logs.
      {.name = "clu",
       .has = {"logging_writer.py:"},
       .line = R"(logging_writer\.py:\d+\] \[(?P<step>\d+)\] )",
       .fields =
           {
               {"loss", loss},
               {"train_loss", loss},
               {"training_loss", loss},
               {"eval_loss", validation_loss},
               {"learning_rate", learning_rate},
               {"grad_norm", grad_norm},
               {"steps_per_sec", steps_per_second, 1, true},
               {"steps_per_second", steps_per_second, 1, true},
               {"uptime", elapsed_seconds},
           }},
      {.name = "paddle",
       .has = {"batch_cost: "},
       .line = R"((?:global_step: |[Ii]ter: ?)(?P<step>\d+)(?:/(?P<total>\d+))?, )",
       .fields =
           {
               {"loss", loss},
               {"lr", learning_rate},
               {"batch_cost", step_seconds, 1, true},
               {"reader_cost", data_seconds, 1, true},
               {"avg_batch_cost", step_seconds, 1, true},
               {"avg_reader_cost", data_seconds, 1, true},
               {"ips", samples_per_second, 1, true},
           }},
      {.name = "paddle_epochs",
       .has = {"batch_cost: "},
       .line =
           R"(Epoch:? \[?(?P<epoch>\d+)(?:/\d+)?\] ?\[(?:Iter: ?)? *(?P<step>\d+)/ *(?P<of>\d+)\])",
       .fields =
           {
               {"loss", loss},
               {"learning_rate", learning_rate},
               {"lr", learning_rate},
               {"batch_cost", step_seconds, 1, true},
               {"data_cost", data_seconds, 1, true},
               {"reader_cost", data_seconds, 1, true},
               {"ips", samples_per_second, 1, true},
           }},
      // TensorFlow's Estimator: the seconds are those since the line before.
      {.name = "estimator",
       .has = {", step = "},
       .line = R"(loss = (?P<loss>\S+), step = (?P<step>\d+)(?: \((?P<sec>[\d.]+) sec\))?)",
       .fields = {{"loss", loss}, {"sec", step_seconds, 1, false, "sec", true}},
       .end = {"Loss for final step: "}},
      {.name = "olmo",
       .has = {"[step="},
       .line = R"(\[step=(?P<step>\d+)/(?P<total>\d+))",
       .fields =
           {
               {"total", total_steps, 1, false, "steps"},
               {"train/CrossEntropyLoss", loss},
               {"train/CE loss", loss},
               {"optim/total_grad_norm", grad_norm},
               {"optim/total grad norm", grad_norm},
               {"throughput/device/tokens_per_second", tokens_per_second, 1, true},
               {"throughput/device/TPS", tokens_per_second, 1, true},
               {"throughput/device/batches_per_second", steps_per_second, 1, true},
               {"throughput/device/BPS", steps_per_second, 1, true},
           },
       .block = true},
      {.name = "composer",
       .has = {"[metric][batch="},
       .line = R"(\[metric\]\[batch=(?P<step>\d+)\]: )",
       .fields =
           {
               {"loss/train/total", loss},
               {"throughput/batches_per_sec", steps_per_second, 1, true},
               {"throughput/samples_per_sec", samples_per_second, 1, true},
               {"throughput/tokens_per_sec", tokens_per_second, 1, true},
               {"time/total", elapsed_seconds, 3600},
           }},
      {.name = "composer_console",
       .has = {"[batch="},
       .line = R"((?:\[epoch=\d+(?:/\d+)?\])?\[batch=(?P<step>\d+)(?:/(?P<total>\d+))?\]:)",
       .fields = {{"Train loss/train/total", loss}, {"total", total_steps, 1, false, "batches"}},
       .block = true},
      {.name = "deepspeed_chat",
       .has = {"| PPO Epoch: "},
       .line = R"(Epoch: (?P<epoch>\d+) \| Step: (?P<step>\d+) \|)",
       .fields = {{"Actor Loss", loss}, {"Critic Loss", loss}, {"Unsupervised Loss", loss}}},
      // CycleGAN and pix2pix: iterations are images.
      {.name = "cyclegan",
       .has = {", iters: "},
       .line = R"(\(epoch: (?P<epoch>\d+), iters: (?P<step>\d+), )",
       .fields =
           {
               {"time", step_seconds},
               {"data", data_seconds},
               {"G_GAN", loss},
               {"G_A", loss},
               {"G_B", loss},
               {"D_A", loss},
               {"D_B", loss},
               {"D_real", loss},
               {"D_fake", loss},
               {"cycle_A", loss},
               {"cycle_B", loss},
           }},
      // Real-ESRGAN, SwinIR and others of BasicSR; what their losses are called is up to the model.
      {.name = "basicsr",
       .has = {", time (data): "},
       .line =
           R"(\[epoch: *\d+, iter: *(?P<step>[\d,]+), .*time \(data\): (?P<dt>[\d.]+) \((?P<wait>[\d.]+)\)\])",
       .fields =
           {
               {"dt", step_seconds, 1, true, "time"},
               {"wait", data_seconds, 1, true, "data"},
               {"lr", learning_rate},
           },
       .others = true},
      {.name = "caffe",
       .has = {", loss = "},
       .line =
           R"(Iteration (?P<step>\d+)(?: \((?P<rate>[-+\d.e]+) iter/s, [\d.e+-]+s/\d+ iters\))?, loss = )",
       .fields = {{"loss", loss}, {"rate", steps_per_second, 1, true, "iter/s"}},
       .end = {"Optimization Done."}},
      // Times are those since the line before.
      {.name = "marian",
       .has = {" : Up. "},
       .line = R"(Ep\. \d+ : Up\. (?P<step>[\d,]+) : .*: Cost (?P<loss>\S+) )",
       .fields = {{"loss", loss, 1, false, "cost"}, {"Time", step_seconds, 1, false, "time", true}},
       .end = {"Training finished"},
       .blanks = true},
      // XGBoost and LightGBM, a line for each round.
      {.name = "boosting",
       .has = {"-logloss:", "-mlogloss:", "logloss: ", "-rmse:", "-error:"},
       .line = R"(^(?:\[[\d:]+\] ?)?\[(?P<step>\d+)\]\s+\S+)",
       .fields =
           {
               {"train-logloss", loss},
               {"train-mlogloss", loss},
               {"train-rmse", loss},
               {"train-error", loss},
               {"eval-logloss", validation_loss},
               {"eval-mlogloss", validation_loss},
               {"eval-rmse", validation_loss},
               {"training's binary_logloss", loss},
               {"training's multi_logloss", loss},
           }},
      // The columns of Ultralytics in front of its bar, once an epoch.
      {.name = "ultralytics_console",
       .has = {"%|", "% \xE2\x94\x81"},
       .line =
           R"(^ *(?P<step>\d+)/(?P<total>\d+) +[\d.]+G +(?P<box>[\d.]+|nan|inf) +(?P<cls>[\d.]+|nan|inf) +(?P<dfl>[\d.]+|nan|inf) +\d+ +\d+: +\d{3}%)",
       .fields =
           {
               {"box", loss, 1, false, "box_loss"},
               {"cls", loss, 1, false, "cls_loss"},
               {"dfl", loss, 1, false, "dfl_loss"},
               {"total", total_steps, 1, false, "epochs"},
           }},
      {.name = "mlperf",
       .has = {":::MLLOG "},
       .line =
           R"re(:::MLLOG .*"time_ms": (?P<time>\d+),.*"(?:step|step_num|iteration|samples_count)": (?P<step>\d+))re",
       .fields =
           {
               {"train_loss", loss},
               {"loss", loss},
               {"eval_loss", validation_loss},
               {"throughput", samples_per_second, 1, true},
               {"lr", learning_rate},
           },
       .end = {"\"key\": \"run_stop\""}},
  };
}

}  // namespace trainwatch
