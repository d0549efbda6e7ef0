// What commands on old files have in common: they take the configuration and some paths, and
// everything below these goes through the pipeline once, on one thread.
#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>

#include "daemon/cli/options.h"
#include "pipeline/engine/ingest.h"

namespace trainwatch {

class OldFiles {
 public:
  // Loads the configuration and checks the paths; what is wrong with them goes to `err`. Both
  // arguments outlive this.
  OldFiles(const OldFilesOptions& options, std::ostream& err);

  // Nothing, or the exit code of a command that cannot go on.
  const std::optional<int>& refused() const { return refused_; }
  // Only where nothing is refused.
  const Config& config() const { return *config_; }

  // Reads all files to their ends and evaluates what unfinished ones hold back; `read` is called
  // after every piece and at the end. What was thrown away is said on `err`: it must be seen, also
  // in a batch run. The result keeps account of what was read, and lives no longer than `engine`.
  std::unique_ptr<Ingest> read_into(Engine& engine, const std::function<void()>& read) const;

 private:
  void read_all(Ingest& ingest, std::vector<WatchRoot> roots,
                const std::function<void()>& read) const;

  const OldFilesOptions& options_;
  std::ostream& err_;
  std::optional<Config> config_;
  std::optional<int> refused_;
};

}  // namespace trainwatch
