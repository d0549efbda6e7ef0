// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/cause_words.h"

#include <array>
#include <utility>

namespace trainwatch {
namespace {

struct CauseRow {
  CauseName cause;
  CauseWords words;
};

// In the order of CauseName.
constexpr std::array kCauseRows = {
    CauseRow{CauseName::unattributed,
             {"", "some steps take far longer than the others",
              "a step took far longer than the others", "slow for reasons that are not known"}},
    CauseRow{CauseName::input_wait,
             {"every step waits for data", "some steps wait for data", "a step waited for data",
              "waiting for data"}},
    CauseRow{CauseName::cpu_saturation,
             {"a CPU core is saturated", "some steps are slow as a CPU core is saturated",
              "a step was slow as a CPU core was saturated", "slowed by a saturated CPU core"}},
    CauseRow{CauseName::io_wait,
             {"every step waits for storage", "some steps wait for storage",
              "a step waited for storage", "waiting for storage"}},
    CauseRow{CauseName::host_pause,
             {"the host holds up every step", "the host holds up some steps",
              "the host held up a step", "held up by the host"}},
    CauseRow{CauseName::kernel_launch,
             {"the GPU waits for work to be launched", "some steps wait for work to be launched",
              "a step waited for work to be launched", "waiting for GPU work to be launched"}},
    CauseRow{CauseName::communication,
             {"every step waits for communication between ranks",
              "some steps wait for communication between ranks",
              "a step waited for communication between ranks",
              "waiting for communication between ranks"}},
    CauseRow{CauseName::straggler,
             {"every step waits for a slower rank", "some steps wait for a slower rank",
              "a step waited for a slower rank", "waiting for a slower rank"}},
    CauseRow{
        CauseName::gpu_slowdown,
        {"a GPU is held back below its usual clock", "some steps are slow as a GPU is held back",
         "a step was slow as a GPU was held back", "slowed by a GPU that is held back"}},
    CauseRow{CauseName::compute_growth,
             {"every step computes longer than before", "some steps compute longer than the others",
              "a step computed longer than the others", "computing longer than before"}},
    CauseRow{CauseName::memory_copy,
             {"every step waits for copies between host and GPU",
              "some steps wait for copies between host and GPU",
              "a step waited for copies between host and GPU",
              "waiting for copies between host and GPU"}},
    CauseRow{CauseName::synchronization,
             {"every step waits for the GPU to hand over values",
              "some steps wait for the GPU to hand over values",
              "a step waited for the GPU to hand over values",
              "waiting for the GPU to hand over values"}},
    CauseRow{CauseName::evaluation,
             {"evaluations hold up training", "evaluations hold up some steps",
              "an evaluation held up a step", "evaluating"}},
    CauseRow{CauseName::checkpoint,
             {"checkpoints hold up training", "checkpoints hold up some steps",
              "a checkpoint held up a step", "writing checkpoints",
              "Write checkpoints in the background (torch.distributed.checkpoint.async_save), less "
              "often, or to faster storage."}},
    CauseRow{CauseName::memory_creep,
             {"memory fills up", "memory fills up", "memory filled up", "running out of memory"}},
    CauseRow{
        CauseName::collective_hang,
        {"a collective operation hangs", "some steps wait for a collective operation that hangs",
         "a step waited for a collective operation that hung",
         "hanging in a collective operation"}},
    CauseRow{CauseName::garbage_collection,
             {"Python's garbage collection holds up training",
              "Python's garbage collection holds up some steps",
              "Python's garbage collection held up a step", "collecting garbage in Python",
              "Leave what lives for long out of the collection (gc.freeze()), and collect on all "
              "ranks in the same step (gc.disable(), then gc.collect() every so many steps)."}},
    CauseRow{CauseName::recompilation,
             {"torch.compile compiles again and holds up training",
              "torch.compile compiles again and holds up some steps",
              "torch.compile compiled again and held up a step", "compiling again",
              "Find what changes (TORCH_LOGS=recompiles names it): mark sizes that vary as dynamic "
              "(torch.compile(dynamic=True), mark_dynamic), or pad to a few sizes."}},
};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kCauseRows.size(); ++i) {
    if (static_cast<std::size_t>(kCauseRows[i].cause) != i) return false;
  }
  return kCauseRows.size() == static_cast<std::size_t>(CauseName::recompilation) + 1;
}
static_assert(in_order());

}  // namespace

const CauseWords& words_of(CauseName cause) {
  return kCauseRows[static_cast<std::size_t>(cause)].words;
}

void set_cause(Verdict& verdict, Cause cause) {
  verdict.cause = std::move(cause);
  const std::string_view next = words_of(verdict.cause.name).next;
  if (!next.empty()) verdict.next = next;
}

std::string_view spent_words(LifePart part) {
  switch (part) {
    case LifePart::redone:
      return "doing steps again";
    case LifePart::down:
      return "down between attempts";
    case LifePart::elsewhere:
      return "waiting for ranks that are not watched here";
    case LifePart::stalled:
      return "standing still";
    default:
      break;
  }
  for (const CauseRow& row : kCauseRows) {
    if (part_of(row.cause) == part) return row.words.spent;
  }
  return words_of(CauseName::unattributed).spent;
}

}  // namespace trainwatch
