// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/writer_watch.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

namespace trainwatch {
namespace {

namespace fs = std::filesystem;

}  // namespace

WriterWatch::WriterWatch(std::vector<WatchRoot> roots, std::string proc)
    : roots_(std::move(roots)), proc_(std::move(proc)) {}

std::vector<RankProcess> WriterWatch::look(const std::vector<RankProcess>& writers, bool all) {
  std::vector<RankProcess> gone;
  std::map<SubjectId, Seen> seen;
  std::map<std::int64_t, bool> writing;  // by process, which several ranks may have
  const auto writes = [&](std::int64_t process) {
    const auto [known, is_new] = writing.try_emplace(process);
    if (is_new) known->second = writes_below_a_root(process);
    return known->second;
  };
  for (const RankProcess& writer : writers) {
    const auto known = seen_.find(writer.rank);
    const bool was_seen = known != seen_.end() && known->second.process == writer.process;
    if (was_seen && !is_alive(known->second)) {
      gone.push_back(writer);
    } else if (was_seen) {
      seen[writer.rank] = known->second;
    } else if (all && writes(writer.process)) {
      seen[writer.rank] = {writer.process, began(writer.process)};
    }
  }
  seen_ = std::move(seen);
  return gone;
}

// A zombie, which has ended and which nobody has waited for, has no files any more.
bool WriterWatch::is_alive(const Seen& seen) const {
  std::error_code failure;
  const fs::path files = fs::path(proc_) / std::to_string(seen.process) / "fd";
  const fs::directory_iterator any(files, failure);
  return !failure && any != fs::directory_iterator() && began(seen.process) == seen.began;
}

// The 22nd field of its stat, in ticks since the machine started. The second one, its name in
// parentheses, may have anything in it.
std::string WriterWatch::began(std::int64_t process) const {
  constexpr int kFieldsAfterName = 20;
  std::ifstream file(fs::path(proc_) / std::to_string(process) / "stat");
  std::string line;
  std::getline(file, line, '\0');
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream fields(line.substr(name_end + 1));
  std::string field;
  for (int i = 0; i < kFieldsAfterName && fields >> field; ++i) continue;
  return fields ? field : std::string();
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
