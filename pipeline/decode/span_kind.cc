#include "pipeline/decode/span_kind.h"

namespace trainwatch {
namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

struct PhaseRule {
  std::string_view phase;
  bool prefix;  // false: the whole phase
  SpanKind kind;
};

// Sub-module phases are left out: their time is inside Forward and Backward already.
constexpr PhaseRule kPhases[] = {
    {"DataLoaderWorker", false, SpanKind::data_worker},
    {"DataLoaderIterInitialize", false, SpanKind::data_init},
    {"Forward", false, SpanKind::forward},
    {"Backward", false, SpanKind::backward},
    {"Backward(post-forward)", false, SpanKind::backward},
    {"Optimizer", true, SpanKind::optimizer},
    {"Checkpoint", true, SpanKind::checkpoint},
    {"NcclManager", false, SpanKind::communication},
    {"cpu_functions", true, SpanKind::cpu_op},
    {"gpu_functions", true, SpanKind::kernel},
};

constexpr std::string_view kStep = "Step:ModeKeys.";

Mode mode_of(std::string_view name) {
  if (name == "TRAIN") return Mode::train;
  if (name == "EVAL") return Mode::eval;
  if (name == "PREDICT") return Mode::predict;
  return name == "GLOBAL" ? Mode::global : Mode::unknown;
}

bool is_data_wait(std::string_view name) {
  return contains(name, "DataLoaderIter::GetNext") || contains(name, "dataset::GetNext") ||
         contains(name, "IteratorGetNext") ||
         (contains(name, "Iterator::") && contains(name, "GetNext"));
}

}  // namespace

SpanClass classify_span(std::string_view phase, std::string_view name) {
  for (const std::string_view text : {name, phase}) {
    if (text.starts_with(kStep)) return {SpanKind::step, mode_of(text.substr(kStep.size()))};
  }
  if (is_data_wait(name)) return {SpanKind::data_wait, Mode::unknown};
  for (const PhaseRule& rule : kPhases) {
    if (rule.prefix ? phase.starts_with(rule.phase) : phase == rule.phase) return {rule.kind, {}};
  }
  if (contains(phase, "Horovod")) return {SpanKind::communication, Mode::unknown};
  return {};
}

SpanClass SpanClassifier::classify(const SymbolTable& symbols, Symbol phase, Symbol name,
                                   SpanKind fallback) {
  const std::uint64_t key =
      (static_cast<std::uint64_t>(phase) << 32U) | static_cast<std::uint64_t>(name);
  const std::uint64_t hash = key * 0x9E3779B97F4A7C15ULL;
  Slot& slot = slots_[hash >> 56U];
  if (slot.key != key || key == 0) {
    slot = {key, classify_span(symbols.text(phase), symbols.text(name))};
  }
  SpanClass answer = slot.answer;
  if (answer.kind == SpanKind::other) answer.kind = fallback;
  return answer;
}

}  // namespace trainwatch
