#include "daemon/app/read_all.h"

#include <filesystem>
#include <ostream>
#include <utility>

#include "pipeline/tail/posix_file_system.h"

namespace trainwatch {

std::optional<std::string> missing_path(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    if (std::error_code failure; !std::filesystem::exists(path, failure)) return path;
  }
  return std::nullopt;
}

void read_all(std::vector<WatchRoot> roots, const TailLimits& limits, Ingest& ingest,
              ProgressBar& progress, const std::function<void()>& read) {
  PosixFileSystem files;
  Tailer tailer(files, std::move(roots), limits);
  // More files than the tailer follows at a time come in with the next scan.
  for (bool more = true; more;) {
    more = false;
    tailer.scan(ingest);
    progress.set_total(tailer.unread_bytes());
    while (tailer.read(ingest)) {
      read();
      progress.show_left(tailer);
      more = tailer.files_dropped() > 0;
    }
  }
}

void report_rejects(const Ingest& ingest, std::ostream& err) {
  for (const auto& [source, counts] : ingest.sources()) {
    for (std::size_t i = 0; i < counts.rejects.size(); ++i) {
      if (counts.rejects[i] == 0) continue;
      err << source << ": " << counts.rejects[i] << " records rejected ("
          << to_string(static_cast<RejectReason>(i)) << ")\n";
    }
    if (counts.read_errors > 0) err << source << ": " << counts.read_errors << " read errors\n";
  }
}

}  // namespace trainwatch
