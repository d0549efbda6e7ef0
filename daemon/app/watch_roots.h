// From configuration to what the tailer and the ingest are told about the watched roots.
#pragma once

#include <string>
#include <vector>

#include "daemon/config/config.h"
#include "pipeline/engine/ingest.h"
#include "pipeline/tail/tailer.h"

namespace trainwatch {

struct WatchRoots {
  std::vector<WatchRoot> roots;
  IngestOptions ingest;
};

TailLimits tail_limits(const TailConfig& config);

// Everything under `watch` in the configuration.
WatchRoots configured_roots(const Config& config);

// `paths` given on the command line; each takes job and rank from the configured entry it lies
// below, if there is one, so that a replay gives the ids of the live run.
WatchRoots replay_roots(const std::vector<std::string>& paths, const Config& config);

}  // namespace trainwatch
