// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/run_naming.h"

#include "pipeline/decode/decoder.h"

namespace trainwatch {

std::string FileContext::job_of(std::string_view run) const {
  if (naming == nullptr || !names_a_run(run)) return job;
  return naming->job_of_run(run.substr(0, kLongestRun));
}

}  // namespace trainwatch
