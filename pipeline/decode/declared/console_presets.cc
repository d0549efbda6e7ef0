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
               {"grad norm", grad_norm},
               {"learning rate", learning_rate},
               {"throughput per GPU (TFLOP/s/GPU)", tflops_per_gpu, 1, true},
               {"samples/sec", samples_per_second, 1, true},
               {"loss scale", loss_scale},
               {"number of skipped iterations", skipped_steps},
               {"number of nan iterations", nan_steps},
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
       .marks = {"the checkpoint", "Training starts", "validate step:"}},
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
       .line = R"(\{'(?:eval_)?loss': )",
       .fields =
           {
               {"loss", loss},
               {"grad_norm", grad_norm},
               {"learning_rate", learning_rate},
               {"epoch", epoch},
               {"eval_loss", validation_loss},
           },
       .end = {"{'train_runtime': "},
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
       .end = {"Total training time: "}},
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
       .end = {"done training in "}},
  };
}

}  // namespace trainwatch
