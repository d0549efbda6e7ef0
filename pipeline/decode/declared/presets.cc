// What the writers of training logs print. The sample of each in tests/unit/decode/samples.h names
// the writer.
#include "pipeline/decode/declared/declaration.h"

namespace trainwatch {
namespace {

using Text = std::string_view;
using enum ScalarKind;

constexpr Text kMegatronHas[] = {"elapsed time per iteration (ms)"};
constexpr DeclaredField kMegatron[] = {
    {"elapsed time per iteration (ms)", step_seconds, 1e-3, true},
    {"lm loss", loss},
    {"grad norm", grad_norm},
    {"learning rate", learning_rate},
    {"throughput per GPU (TFLOP/s/GPU)", tflops_per_gpu, 1, true},
    {"samples/sec", samples_per_second, 1, true},
    {"loss scale", loss_scale},
    {"number of skipped iterations", skipped_steps},
    {"number of nan iterations", nan_steps},
};

// `skipped` counts from the start of the job.
constexpr Text kDeepSpeedHas[] = {", skipped=", "RunningAvgSamplesPerSec=", "iter time (s):"};
constexpr DeclaredField kDeepSpeed[] = {
    {"loss", loss},
    {"iter time (s)", step_seconds, 1, true},
    {"samples/sec", samples_per_second, 1, true},
    {"CurrSamplesPerSec", samples_per_second, 1, true},
    {"lr", learning_rate},
    {"MemAllocated", memory_bytes},
};

constexpr Text kTitanHas[] = {"tps: "};
constexpr DeclaredField kTitan[] = {
    {"loss", loss},
    {"grad_norm", grad_norm},
    {"memory", memory_bytes},
    {"tps", tokens_per_second, 1, true},
    {"tflops", tflops_per_gpu, 1, true},
    {"mfu", mfu_ratio, 1, true},
};

constexpr Text kNemoHas[] = {"train_step_timing in s"};
constexpr DeclaredField kNemo[] = {
    {"reduced_train_loss", loss},  {"train_step_timing in s", step_seconds},
    {"lr", learning_rate},         {"grad_norm", grad_norm},
    {"val_loss", validation_loss}, {"TFLOPS_per_GPU", tflops_per_gpu},
};

constexpr Text kHuggingFaceHas[] = {"{'loss': ", "{'eval_loss': "};
constexpr DeclaredField kHuggingFace[] = {
    {"loss", loss},   {"grad_norm", grad_norm},       {"learning_rate", learning_rate},
    {"epoch", epoch}, {"eval_loss", validation_loss},
};

constexpr Text kDetectronHas[] = {" data_time: "};
constexpr DeclaredField kDetectron[] = {
    {"total_loss", loss},
    {"time", step_seconds, 1, true},
    {"data_time", data_seconds, 1, true},
    {"lr", learning_rate},
};

constexpr Text kTimmHas[] = {"  Data: "};
constexpr DeclaredField kTimm[] = {
    {"Loss", loss},
    {"Time", step_seconds},
    {"Data", data_seconds},
    {"LR", learning_rate},
};

constexpr Text kFairseqHas[] = {"num_updates"};
constexpr DeclaredField kFairseq[] = {
    {"loss", loss},
    {"valid_loss", validation_loss},
    {"wps", tokens_per_second, 1, true},
    {"ups", steps_per_second, 1, true},
    {"lr", learning_rate},
    {"gnorm", grad_norm},
    {"loss_scale", loss_scale},
};

constexpr FormatDeclaration kConsole[] = {
    {.name = "megatron",
     .has = kMegatronHas,
     .line = R"((?:\[(?P<time>[-0-9]+ [0-9:.]+)\] +)?iteration +(?P<step>\d+)/ *\d+ \|)",
     .fields = kMegatron},
    {.name = "deepspeed",
     .has = kDeepSpeedHas,
     .line =
         R"((?:\[(?P<time>\d+-\d+-\d+ [0-9:]+),\d+\].*)?steps?[=:] ?(?P<step>\d+),? (?:skipped=|RunningAvg|loss: .*iter time))",
     .fields = kDeepSpeed},
    {.name = "torchtitan",
     .has = kTitanHas,
     .line = R"((?:(?P<time>\d+-\d+-\d+ [0-9:]+(?:[,.]\d+)?) - .*)?step: +(?P<step>\d+) +loss: )",
     .fields = kTitan},
    {.name = "nemo", .has = kNemoHas, .line = R"(\| global_step: (?P<step>\d+))", .fields = kNemo},
    {.name = "huggingface",
     .has = kHuggingFaceHas,
     .line = R"(\{'(?:eval_)?loss': )",
     .fields = kHuggingFace,
     .step_from_bar = true},
    {.name = "detectron2",
     .has = kDetectronHas,
     .line = R"( iter: (?P<step>\d+) )",
     .fields = kDetectron},
    {.name = "timm",
     .has = kTimmHas,
     .line = R"(Train: (?P<epoch>\d+) \[ *(?P<step>\d+)/(?P<of>\d+) )",
     .fields = kTimm},
    {.name = "fairseq",
     .has = kFairseqHas,
     .line = R"((?:(?P<time>\d+-\d+-\d+ [0-9:]+) \| .*)?num_updates"?[=:] ?"?(?P<step>\d+))",
     .fields = kFairseq},
};

}  // namespace

std::span<const FormatDeclaration> console_presets() {
  return kConsole;
}

}  // namespace trainwatch
