#include "daemon/app/self_checks.h"

namespace trainwatch {
namespace {

// The reader reports every second unless a file call hangs.
constexpr auto kReaderHangs = std::chrono::seconds(15);

}  // namespace

std::vector<SelfCondition> self_checks(const DaemonState& state) {
  std::vector<SelfCondition> found;
  const auto add = [&found](std::string_view kind, Severity severity, double value,
                            std::string_view unit, std::string summary, std::string_view next) {
    found.push_back({kind, "", severity, value, unit, std::move(summary), next});
  };
  if (state.storing.degraded()) {
    add("state_degraded", Severity::critical, 1, "",
        "cannot store state and alerts: " + state.storing.failure(),
        "Free space on the disk of storage.path, or repair it; nothing is lost while trainwatch "
        "runs.");
  }
  if (!state.state_lost.empty()) {
    add("state_lost", Severity::warning, 1, "", "reading all files again: " + state.state_lost,
        "Clients get a reset or alerts they already have; check what happened to storage.path.");
  }
  if (!state.tail.watch_degraded.empty() && state.tail.watch_degraded != "network_fs") {
    add("watch_degraded", Severity::info, 1, "",
        "changes are found by polling only: " + state.tail.watch_degraded,
        "Raise fs.inotify.max_user_watches or max_user_instances; alerts come up to one poll "
        "late.");
  }
  if (state.tail.files_dropped > 0) {
    const auto files = static_cast<double>(state.tail.files_dropped);
    add("files_limit", Severity::warning, files, "files",
        std::to_string(state.tail.files_dropped) + " files are not followed: the limit is reached",
        "Raise tail.max_files, or watch fewer directories.");
  }
  if (state.reader_silence > kReaderHangs) {
    add("stuck", Severity::critical, std::chrono::duration<double>(state.reader_silence).count(),
        "seconds", "a file system call does not return",
        "Look for a hung mount (NFS, FUSE) below the watched directories.");
  }
  return found;
}

}  // namespace trainwatch
