// SPDX-License-Identifier: Apache-2.0
// The answer to GET /api/v1/tensors/value, of a trial that has been read. For the thread of a
// request.
#pragma once

#include <cstdint>

#include "daemon/net/http_message.h"
#include "daemon/net/tensor_query.h"
#include "pipeline/tensors/trial.h"

namespace trainwatch {

// Uses at most `most_bytes` of memory beside the trial: otherwise 413. `query` has name and step.
HttpResponse tensor_value_response(const Trial& trial, const TensorQuery& query,
                                   std::uint64_t most_bytes);

// 404, and the state of a step that is not available.
HttpResponse step_not_available(std::int64_t step, StepState state);

}  // namespace trainwatch
