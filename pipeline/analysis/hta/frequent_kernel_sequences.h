// Which sequences of kernels operators launch, and how often each: where kernels may be fused, or
// launched as a graph.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/cycle/step_selection.h"

namespace trainwatch {

inline constexpr std::size_t kFewestKernels = 3;  // of a sequence: HTA's min_pattern_len

struct KernelSequence {
  NameId op{};
  std::vector<NameId> kernels;  // by start
  std::uint64_t count = 0;
  std::int64_t device_ns = 0;  // sums over the `count` times
  std::int64_t host_ns = 0;
};

// By count, then time on the device, the most first; then by the names.
//
// Operators are the outermost events of a thread that carry `text` in their names, whatever their
// kind; where it is empty, the outermost ones of kind `op` that are no step. Theirs is what was
// launched by calls of the same thread that began while they ran: all kernels of a graph, copies
// and fills too, waits not; and only `rows`. O(n log n); needs CycleTrace::host.
std::vector<KernelSequence> kernel_sequences(const CycleTrace& cycle, DeviceRows rows,
                                             std::string_view text);

}  // namespace trainwatch
