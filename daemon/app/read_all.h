// What commands on old files have in common: everything below the given paths goes through the
// pipeline once, on one thread.
#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "daemon/app/watch_roots.h"
#include "daemon/cli/progress_bar.h"
#include "pipeline/engine/ingest.h"

namespace trainwatch {

// The first of `paths` that is not there.
std::optional<std::string> missing_path(const std::vector<std::string>& paths);

// Reads all files to their ends; `read` is called after every piece. The caller ends the input.
void read_all(std::vector<WatchRoot> roots, const TailLimits& limits, Ingest& ingest,
              ProgressBar& progress, const std::function<void()>& read);

// What was thrown away must be seen, also in a batch run.
void report_rejects(const Ingest& ingest, std::ostream& err);

}  // namespace trainwatch
