// SPDX-License-Identifier: Apache-2.0
#include <ostream>

#include "commands/commands.h"
#include "commands/offline_run.h"
#include "daemon/exit_code.h"

namespace trainwatch {

int files(const FilesOptions& options, std::ostream& out, std::ostream& err) {
  const OfflineRun run(options, err);
  if (run.refused()) return *run.refused();
  Engine engine({});
  const auto ingest = run.read_into(engine, [] {});
  for (const auto& [id, file] : ingest->files()) {
    if (file.records < options.min_records) continue;
    out << file.known.path << ": " << file.records << " records\n";
  }
  out.flush();
  return out ? exit_code::done : exit_code::failed;
}

}  // namespace trainwatch
