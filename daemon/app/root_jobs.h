// SPDX-License-Identifier: Apache-2.0
// The names of the jobs of several watched roots.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "pipeline/tail/watch_root.h"

namespace trainwatch {

// Names the jobs of roots without one. Several roots are several jobs, named after their folders:
// by as many of the last names of the path as make it differ from the others. Roots of one folder,
// such as "JOB/logs" and "JOB/traces", are of one job. A root inside another one has the job that
// its files would have without it. A single job has no name but those that its files say.
void name_jobs(std::vector<WatchRoot>& roots,
               const std::function<bool(const std::string& path)>& is_file);

}  // namespace trainwatch
