// SPDX-License-Identifier: Apache-2.0
// Names that schedulers and launchers put into the environment: of the job, the node and the rank.
// docs/environment.md lists the variables.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "trainwatch/subject.h"

namespace trainwatch {

// Defaults for what neither the configuration nor, for node and rank, a file says.
struct EnvironmentNames {
  std::string job;   // NAME/RUN, as directories below a watched path would say; empty: unknown
  std::string node;  // empty: unknown
  // kNoRank also if the node has, or may have, several ranks: their files must not get one rank.
  std::int32_t rank = kNoRank;
};

// The value of an environment variable; nullopt if it is not set.
using Variables = std::function<std::optional<std::string>(std::string_view name)>;

EnvironmentNames environment_names(const Variables& variables);

// Those of this process.
std::optional<std::string> process_variable(std::string_view name);

}  // namespace trainwatch
