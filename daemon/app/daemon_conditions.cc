#include "daemon/app/daemon_conditions.h"

namespace trainwatch {
namespace {

// The reader reports every second unless a file call hangs.
constexpr auto kReaderHangs = std::chrono::seconds(15);

}  // namespace

std::vector<SelfCondition> daemon_conditions(const DaemonState& state) {
  std::vector<SelfCondition> found;
  const auto add = [&found](std::string_view kind, Severity severity, double value,
                            std::string_view unit, std::string summary, std::string_view next) {
    found.push_back({kind, "", severity, value, unit, std::move(summary), next});
  };
  if (state.storing.degraded()) {
    add("state_degraded", Severity::critical, 1, "",
        "state and alerts cannot be stored: " + state.storing.failure(),
        "Free space or mend the disk of storage.path; nothing is lost while trainwatch runs.");
  }
  if (!state.state_lost.empty()) {
    add("state_lost", Severity::warning, 1, "", "all files are read again: " + state.state_lost,
        "Clients get a reset or tellings they know; see what became of storage.path.");
  }
  if (!state.tail.watch_degraded.empty() && state.tail.watch_degraded != "network_fs") {
    add("watch_degraded", Severity::info, 1, "",
        "changes are only found by polling: " + state.tail.watch_degraded,
        "Raise fs.inotify.max_user_watches or max_user_instances; alerts come up to one poll "
        "late.");
  }
  if (state.tail.files_dropped > 0) {
    const auto files = static_cast<double>(state.tail.files_dropped);
    add("files_limit", Severity::warning, files, "files",
        std::to_string(state.tail.files_dropped) + " files are left out for now",
        "Raise tail.max_files, or watch fewer directories.");
  }
  if (state.reader_silence > kReaderHangs) {
    add("stuck", Severity::critical, std::chrono::duration<double>(state.reader_silence).count(),
        "seconds", "no answer from the file system that is being read",
        "Look for a hung mount (NFS, FUSE) below the watched directories.");
  }
  return found;
}

}  // namespace trainwatch
