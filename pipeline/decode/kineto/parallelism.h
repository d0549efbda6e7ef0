// SPDX-License-Identifier: Apache-2.0
// The purpose of a communication kernel in a profiler trace.
#pragma once

#include <string_view>

namespace trainwatch {

// Whether the kernel communicates within or between the layers of a model, as tensor, context,
// expert and pipeline parallelism do by design. Gradients and parameters (data parallelism, FSDP)
// do not count. `group` is the name of the process group and `description` what PyTorch says
// of it ("mesh_tp", "TENSOR_MODEL_PARALLEL_GROUP"); both may be empty. Sends, receives and
// all-to-all run as one kernel (SendRecv), which data parallelism does not use.
bool is_within_layers(std::string_view kernel, std::string_view group,
                      std::string_view description);

}  // namespace trainwatch
