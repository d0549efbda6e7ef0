// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/scalar_tags.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/path_metadata.h"

namespace trainwatch {
namespace {

bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
char lower(char c) {
  return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
}

// The words of a tag in lower case: "train/CrossEntropyLoss_v2 (ms)" is train, cross, entropy,
// loss, v, 2, ms. Words behind kMost are left out.
class TagWords {
 public:
  explicit TagWords(std::string_view tag) {
    text_.reserve(tag.size());  // words_ refer to it
    char before = '\0';
    for (std::size_t i = 0; i < tag.size(); ++i) {
      const char c = tag[i];
      const bool follows = i + 1 < tag.size() && is_lower(tag[i + 1]);
      const bool hump = is_upper(c) && (is_lower(before) || (is_upper(before) && follows));
      const bool word = is_lower(c) || is_upper(c) || is_digit(c);
      if (!word || hump || is_digit(c) != is_digit(before)) end_word();
      if (word) text_ += lower(c);
      before = c;
    }
    end_word();
  }
  TagWords(const TagWords&) = delete;
  TagWords& operator=(const TagWords&) = delete;

  std::size_t size() const { return count_; }
  // Whether one of `any`, words between bars, is a word of the tag.
  bool has(std::string_view any) const { return find(any) < count_; }
  // The first word that is one of `any`, at or behind `from`; size(): there is none.
  std::size_t find(std::string_view any, std::size_t from = 0) const {
    while (from < count_ && !is_one_of(words_[from], any)) ++from;
    return from;
  }
  bool is(std::size_t at, std::string_view any) const {
    return at < count_ && is_one_of(words_[at], any);
  }

 private:
  static constexpr std::size_t kMost = 16;

  static bool is_one_of(std::string_view word, std::string_view any) {
    for (;;) {
      const std::size_t bar = any.find('|');
      if (any.substr(0, bar) == word) return true;
      if (bar == std::string_view::npos) return false;
      any.remove_prefix(bar + 1);
    }
  }
  void end_word() {
    const std::string_view word = std::string_view(text_).substr(begin_);
    if (!word.empty() && count_ < kMost) words_[count_++] = word;
    begin_ = text_.size();
  }

  std::string text_;  // the words, one behind the other
  std::size_t begin_ = 0;
  std::array<std::string_view, kMost> words_{};
  std::size_t count_ = 0;
};

constexpr std::string_view kEvaluations =
    "val|vals|valid|validation|valloss|eval|evals|evaluation|test|testing|testloss|dev|holdout|"
    "heldout|evaluating|evaluate|infer|inference|predict|predicting|prediction";
constexpr std::string_view kSeconds = "s|sec|secs|second|seconds";
constexpr std::string_view kDurations =
    "s|sec|secs|second|seconds|ms|msec|millis|milliseconds|us|microseconds";
constexpr std::string_view kTimes =
    "time|times|timing|duration|seconds|secs|sec|cost|latency|ms|millis|milliseconds|dt|walltime";
constexpr std::string_view kIterations =
    "step|steps|iter|iters|iteration|iterations|it|its|batch|batches|update|updates";
constexpr std::string_view kTokens = "token|tokens|tok|toks|words|word";
constexpr std::string_view kSamples =
    "sample|samples|image|images|img|imgs|example|examples|seq|seqs|sequence|sequences|instances|"
    "frames|records|sentences|imgs|ims";

// Of "X per second", "X/s" and "X per GPU per second".
bool is_rate_of(const TagWords& tag, std::string_view things) {
  const std::size_t thing = tag.find(things);
  const std::size_t second = tag.find(kSeconds, thing);
  if (second == tag.size() || second == thing) return false;
  return second == thing + 1 || tag.is(second - 1, "per");
}

// Of "seconds per X", "ms/X" and "time per X".
bool is_duration_per(const TagWords& tag, std::string_view things) {
  for (std::size_t i = 1; i < tag.size(); ++i) {
    if (!tag.is(i, things)) continue;
    if (tag.is(i - 1, kDurations)) return true;
    if (tag.is(i - 1, "time") && tag.is(i, "step|iter|iteration")) return true;
    if (tag.is(i - 1, "per") && tag.find(kTimes) < i - 1) return true;
  }
  return false;
}

double seconds_in(const TagWords& tag) {
  if (tag.has("ms|msec|millis|milliseconds")) return 1e-3;
  return tag.has("us|microseconds") ? 1e-6 : 1;
}

// What has one of its words and none of the others has the kind. The first row that fits counts.
struct WordRow {
  ScalarKind kind;
  std::string_view words;
  std::string_view second;   // one of these, too; empty: nothing
  std::string_view refused;  // none of these
};

constexpr WordRow kWordRows[] = {
    {ScalarKind::loss_scale, "loss|grad|amp", "scale|scaler", "lr"},
    {ScalarKind::grad_norm, "grad|grads|gradient|gradients", "norm|norms",
     "layer|layers|weight|weights|bias|block|blocks|param|max|clip|threshold|ratio|var|std|min|"
     "type"},
    {ScalarKind::grad_norm, "gnorm|gradnorm", "", "max|clip|threshold|layer|layers|type"},
    {ScalarKind::skipped_steps, "skipped", "iterations|steps|iters", ""},
    {ScalarKind::nan_steps, "nan", "iterations|steps|iters", ""},
    {ScalarKind::learning_rate, "lr|lrs|learningrate", "", "scale|mult|loss|ratio|min|max"},
    {ScalarKind::learning_rate, "learning", "rate", "scale|mult|loss"},
    {ScalarKind::mfu_ratio, "mfu", "", ""},
    {ScalarKind::tflops_per_gpu, "tflops|tflop|teraflops", "", "total|promised|peak"},
    {ScalarKind::total_steps, "total|max", "steps|iterations|iters", "env|time|timesteps"},
};

// Whether the tag names the amount of work of an iteration. Any other word means something else.
ScalarKind size_of(const TagWords& tag) {
  constexpr std::string_view kOfBatches =
      "batch|batches|train|num|n|the|in|per|step|total|local|global|size|length|len|seq|sequence|"
      "token|tokens|seen|consumed|max|padded|avg|average|mean|seqlen|curriculum|context|ctx|"
      "current|"
      "image|img|input|crop|resolution|res";
  for (std::size_t i = 0; i < tag.size(); ++i) {
    if (!tag.is(i, kOfBatches)) return ScalarKind::other;
  }
  if (tag.has("token|tokens")) return ScalarKind::step_tokens;
  if (tag.has("batch") && tag.has("size")) return ScalarKind::step_size;
  const bool length = tag.has("seq|sequence|context|ctx") && tag.has("len|length|size");
  const bool image = tag.has("image|img|crop|input") && tag.has("size|resolution|res");
  const bool whole = tag.has("seqlen|resolution");
  return length || image || whole ? ScalarKind::step_size : ScalarKind::other;
}

constexpr std::string_view kLosses =
    "loss|losses|xent|crossentropy|nll|trainloss|valloss|testloss|logloss|mlogloss";
// What is said of a loss, and is none.
constexpr std::string_view kOfLosses =
    "scale|scaler|weight|weights|coef|coeff|coefficient|mask|time|ratio|std|var|variance|count|num|"
    "min|best|lowest|delta|diff|improvement|patience|threshold|target|nan|fn|function|id|fraction|"
    "percent|tokens|sec|seconds|ms|type|name|prev|previous|last|old|packet|packets|stop|player|"
    "profit|power|"
    "heat|hair|blood|transmission|insertion|pressure|reduce";

bool is_step_time(const TagWords& tag) {
  constexpr std::string_view kOfParts =
      "forward|fwd|backward|bwd|optim|optimizer|save|load|epoch|total|cumulative|remaining|eta|"
      "start|elapsed|rollout|generation|sampling|max|min|std|left|loss|env|data|loader|dataloader|"
      "learning|size";
  if (is_duration_per(tag, kIterations)) return !tag.has("data|loader|dataloader|eta|loss");
  if (tag.has(kOfParts)) return false;
  if (tag.has("dt")) return tag.size() == 1;
  const std::size_t thing = tag.find(kIterations);
  return thing < tag.size() && tag.find(kTimes, thing) < tag.size();
}

bool is_data_time(const TagWords& tag) {
  constexpr std::string_view kLoading = "data|loader|dataloader|dataloading|fetch|reader|input";
  return tag.has(kLoading) && tag.has("time|times|timing|duration|seconds|sec|s|ms|cost|wait") &&
         !tag.has("epoch|total|cumulative|loss|throughput|size|samples|tokens");
}

bool is_elapsed(const TagWords& tag) {
  if (tag.has("per|step|iter|iteration|epoch|batch|remaining|eta|timesteps|steps")) return false;
  if (tag.has("elapsed|walltime")) return true;
  if (tag.size() == 1 && tag.has("runtime|uptime")) return true;
  if (tag.has("wall")) return tag.size() == 1 || tag.has("time|clock");
  return tag.has("time|duration") && (tag.has("since") || tag.has("total|cumulative"));
}

bool is_loss(const TagWords& tag) {
  if (tag.is(0, "l") && tag.size() > 1 && !tag.has("r|rate|norm"))
    return true;  // BasicSR's "l_pix"
  return (tag.has(kLosses) || (tag.has("cross") && tag.has("entropy"))) && !tag.has(kOfLosses);
}

double bytes_in(const TagWords& tag) {
  if (tag.has("gib|gi")) return 1 << 30;
  if (tag.has("mib|mi")) return 1 << 20;
  if (tag.has("gb|gigabytes")) return 1e9;
  return tag.has("mb|megabytes") ? 1e6 : 0;
}

// A ratio in percent says its sign.
ScalarMeaning meaning_of(const TagWords& tag, bool percent) {
  using enum ScalarKind;
  for (const WordRow& row : kWordRows) {
    const bool fits =
        tag.has(row.words) && (row.second.empty() || tag.has(row.second)) && !tag.has(row.refused);
    if (fits) return {row.kind, row.kind == mfu_ratio && percent ? 0.01 : 1};
  }
  if (percent) return {};
  if (is_duration_per(tag, "epoch|epochs|sample|samples|token|tokens|image|images")) return {};
  if (is_data_time(tag)) return {data_seconds, seconds_in(tag)};
  if (is_step_time(tag) && !is_rate_of(tag, kIterations)) return {step_seconds, seconds_in(tag)};
  if (tag.has("tps|wps|tgs") || is_rate_of(tag, kTokens)) return {tokens_per_second};
  if (tag.has("fps|ips") || is_rate_of(tag, kSamples)) return {samples_per_second};
  if (tag.has("ups|sps") || is_rate_of(tag, kIterations)) return {steps_per_second};
  if (tag.has("memory|mem|vram") && bytes_in(tag) > 0 && !tag.has("free|total|available|cpu")) {
    return {memory_bytes, bytes_in(tag)};
  }
  if (is_elapsed(tag)) return {elapsed_seconds, seconds_in(tag)};
  if (is_loss(tag)) return {loss};
  if (const ScalarKind size = size_of(tag); size != other) return {size};
  const bool counts_epochs =
      tag.is(tag.size() - 1, "epoch") && (tag.size() == 1 || tag.is(0, "train|trainer|training"));
  return counts_epochs && tag.size() <= 2 ? ScalarMeaning{epoch} : ScalarMeaning{};
}

// Names whose words do not say what they are.
struct NamedTag {
  std::string_view name;  // in lower case
  ScalarMeaning meaning;
};
constexpr NamedTag kNames[] = {
    {"throughput", {ScalarKind::tflops_per_gpu}},  // Megatron-LM
    {"time_metrics/end_to_end(s)", {ScalarKind::step_seconds}},
    {"timers/train", {ScalarKind::step_seconds}},
    {"train_runtime", {ScalarKind::other}},
    {"updt_s", {ScalarKind::step_seconds}},  // LeRobot
};

// "max_steps" and "steps_per_epoch" are settings, "step_time" is a time.
constexpr std::string_view kOfCounters =
    "max|num|per|sec|second|s|time|size|loss|lr|warmup|save|eval|val|validation|test|remaining|"
    "skipped|nan|ms|avg|log|every|interval|acc|of|env|left|ratio|best|early|patience|micro";

}  // namespace

CounterKind counter_of_name(std::string_view name) {
  const TagWords words(name);
  if (words.size() == 0 || words.size() > 4) return CounterKind::none;
  if (words.has("updates") && words.has("num")) return CounterKind::global_steps;
  if (name.starts_with("total/") && words.size() == 2 && words.is(1, "steps|timesteps"))
    return CounterKind::global_steps;
  if (words.has("timesteps") && !words.has("this|per|env")) return CounterKind::global_steps;
  if (words.has(kOfCounters)) return CounterKind::none;
  const std::size_t last = words.size() - 1;
  const bool total = words.has("total");
  if (words.is(last, "epoch|epochs|ep") && !total) return CounterKind::epochs;
  if (words.is(last, "batch|batches|idx|i") && words.has("batch|batches|i") && !total) {
    return CounterKind::batches;
  }
  const bool steps =
      words.is(last,
               "step|steps|iter|iters|iteration|iterations|itr|it|update|updates|episode|episodes|"
               "round|rounds");
  if (!steps) return CounterKind::none;
  if (words.has("global|num")) return CounterKind::global_steps;
  return total ? CounterKind::none : CounterKind::steps;
}

bool is_evaluation_name(std::string_view name) {
  return TagWords(name).has(kEvaluations);
}

bool is_time_name(std::string_view name) {
  const TagWords words(name);
  constexpr std::string_view kTime = "time|duration|sec|secs|second|seconds";
  return words.is(0, kTime) && (words.size() == 1 || (words.size() == 2 && words.is(1, kSeconds)));
}

bool is_metric_name(std::string_view name) {
  const TagWords words(name);
  return words.has(
      "accuracy|acc|reward|rewards|return|returns|perplexity|ppl|score|kl|psnr|ssim|iou|miou|map|"
      "auc|bleu|wer|cer|dice|fid|mae|mse|rmse|logloss|elbo");
}

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
  std::string name(tag);
  std::ranges::transform(name, name.begin(), lower);
  const auto* const known = std::ranges::find(kNames, name, &NamedTag::name);
  if (known != std::end(kNames)) return known->meaning;
  const TagWords words(tag);
  const bool evaluates = words.has(kEvaluations) ||
                         path.find("/validation/") != std::string_view::npos ||
                         path.find("/eval/") != std::string_view::npos;
  const ScalarMeaning meaning = meaning_of(words, name.find('%') != std::string::npos);
  if (!evaluates) return meaning;
  return meaning.kind == ScalarKind::loss ? ScalarMeaning{ScalarKind::validation_loss}
                                          : ScalarMeaning{};
}

}  // namespace trainwatch
