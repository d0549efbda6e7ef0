// SPDX-License-Identifier: Apache-2.0
// What commands on finished files share: configuration and paths, one single-threaded pass of all
// files through the pipeline, and the results of analyses for one job.
#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "commands/cli/options.h"
#include "commands/status_stream.h"
#include "pipeline/engine/analysis_host.h"
#include "pipeline/engine/ingest.h"
#include "pipeline/profile/profile_report.h"
#include "pipeline/tail/content_probe.h"
#include "pipeline/tail/watch_root.h"
#include "trainwatch/figures.h"
#include "trainwatch/result.h"

namespace trainwatch {

// Prints the error; returns `code`, for the command to exit with.
int refuse(const Error& error, int code, std::ostream& err);

class OfflineRun {
 public:
  // Loads the configuration and checks the paths; what is wrong with them goes to `err`. Both
  // arguments outlive this.
  OfflineRun(const OfflineOptions& options, std::ostream& err);

  // The exit code if the command cannot run.
  const std::optional<int>& refused() const { return refused_; }
  // Only valid if refused() is empty.
  const Config& config() const { return *config_; }

  // Prints lines to a stream, between what is shown of the progress.
  void print(std::ostream& to, std::string_view lines) const { status_.print(to, lines); }

  // Reads all files to their ends and evaluates what unfinished ones hold back; `read` is called
  // after every piece and at the end. Rejects are reported on `err`: they must be visible in a
  // batch run too. The result keeps account of what was read, and lives no longer than `engine`.
  std::unique_ptr<Ingest> read_into(Engine& engine, const std::function<void()>& read) const;

  // What read_into() found and did not read.
  const SkippedPaths& skipped() const { return skipped_; }

 private:
  void read_all(Ingest& ingest, std::vector<WatchRoot> roots, ContentProbe probe,
                const std::function<void()>& read) const;

  const OfflineOptions& options_;
  std::ostream& err_;
  mutable StatusStream status_;  // below what goes to err_
  std::optional<Config> config_;
  std::optional<int> refused_;
  mutable SkippedPaths skipped_;
};

// The requested job, or the only one there is; "" if there is none.
Result<std::string> choose_job(const std::optional<std::string>& asked,
                               const std::vector<std::string>& seen);

// The result of this name: of an analysis that runs in `analyses`, or kPythonProfile, of the files
// below `paths`.
Figures job_result(const AnalysisHost& analyses, const std::string& name, std::string_view job,
                   const std::vector<std::string>& paths);
// A group for each of `names`.
Figures job_results(const AnalysisHost& analyses, const std::vector<std::string>& names,
                    std::string_view job, const std::vector<std::string>& paths);

}  // namespace trainwatch
