// SPDX-License-Identifier: Apache-2.0
// What a communication kernel of a profiler trace is for.
#pragma once

#include <string_view>

namespace trainwatch {

// Whether it communicates within the layers of a model, or between them, as tensor, context, expert
// and pipeline parallelism do in every layer by design. Not of gradients and parameters (data
// parallelism, FSDP). `group` is the name of the process group and `description` what PyTorch says
// of it ("mesh_tp", "TENSOR_MODEL_PARALLEL_GROUP"); both may be empty. Sends, receives and
// all-to-all run as one kernel (SendRecv), which data parallelism does not use.
bool is_within_layers(std::string_view kernel, std::string_view group,
                      std::string_view description);

}  // namespace trainwatch
