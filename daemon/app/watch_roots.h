// SPDX-License-Identifier: Apache-2.0
// Turns the configuration into the watched roots of tailer and ingest.
#pragma once

#include <string>
#include <vector>

#include "daemon/config/config.h"
#include "pipeline/engine/ingest.h"
#include "pipeline/tail/tailer.h"

namespace trainwatch {

// Absolute, symbolic links resolved. The user may name a link, or a path that does not exist yet;
// below it, links are not followed.
std::string resolved_path(const std::string& path);
// Absolute, links as they are.
std::string lexical_path(const std::string& path);

TailLimits tail_limits(const TailConfig& config);

// All of `watch` in the configuration. A root is identified by its resolved path, which is also its
// default name in metrics and status. Roots without a job are named by name_jobs (root_jobs.h).
IngestOptions configured_input(const Config& config);

// The `paths` of the command line, each named as written there. Each takes job and rank from the
// configured root that contains it, if any, so that a replay gives the ids of the live run; others
// as if they were watched.
IngestOptions replay_input(const std::vector<std::string>& paths, const Config& config);

}  // namespace trainwatch
