// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/writer_watch.h"

#include <filesystem>
#include <utility>

namespace trainwatch {
namespace {

namespace fs = std::filesystem;

}  // namespace

WriterWatch::WriterWatch(std::vector<WatchRoot> roots, std::string proc)
    : roots_(std::move(roots)), proc_(std::move(proc)) {}

std::vector<Runs::Writer> WriterWatch::look(const std::vector<Runs::Writer>& writers) {
  std::vector<Runs::Writer> gone;
  std::map<SubjectId, std::int64_t> seen;
  std::map<std::int64_t, bool> writing;  // by process, which several ranks may have
  const auto writes = [&](std::int64_t process) {
    const auto [known, is_new] = writing.try_emplace(process);
    if (is_new) known->second = writes_below_a_root(process);
    return known->second;
  };
  for (const Runs::Writer& writer : writers) {
    const auto known = seen_.find(writer.rank);
    const bool was_seen = known != seen_.end() && known->second == writer.process;
    if (was_seen && !is_alive(writer.process)) {
      gone.push_back(writer);
    } else if (was_seen || writes(writer.process)) {
      seen[writer.rank] = writer.process;
    }
  }
  seen_ = std::move(seen);
  return gone;
}

// A zombie, which has ended and which nobody has waited for, has no files any more.
bool WriterWatch::is_alive(std::int64_t process) const {
  std::error_code failure;
  const fs::path files = fs::path(proc_) / std::to_string(process) / "fd";
  const fs::directory_iterator any(files, failure);
  return !failure && any != fs::directory_iterator();
}

bool WriterWatch::writes_below_a_root(std::int64_t process) const {
  std::error_code failure;
  fs::directory_iterator file(fs::path(proc_) / std::to_string(process) / "fd", failure);
  for (; !failure && file != fs::directory_iterator(); file.increment(failure)) {
    std::error_code unreadable;
    const std::string target = fs::read_symlink(file->path(), unreadable).string();
    if (!unreadable && root_of(target, roots_) != nullptr) return true;
  }
  return false;
}

}  // namespace trainwatch
