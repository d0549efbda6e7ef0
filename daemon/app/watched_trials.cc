// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/watched_trials.h"

#include <algorithm>
#include <utility>

namespace trainwatch {

WatchedTrials::WatchedTrials(std::vector<WatchRoot> roots) : roots_(std::move(roots)) {}

void WatchedTrials::find(RequestFiles& files) {
  std::vector<Entry> found;
  for (const WatchRoot& root : roots_) {
    for (const std::string& directory : find_trials(files, root.path)) {
      // A root inside another one has its trials on its own.
      if (root_of(directory, roots_) != &root || found.size() >= kMostTrials) continue;
      const auto known = std::ranges::find(entries_, directory, &Entry::directory);
      if (known != entries_.end()) {
        found.push_back(std::move(*known));
        known->directory.clear();
        continue;
      }
      Entry entry;
      entry.root = root.source;
      entry.directory = directory;
      entry.name = directory == root.path ? "." : directory.substr(root.path.size());
      entry.name.erase(0, entry.name.find_first_not_of('/'));
      found.push_back(std::move(entry));
    }
  }
  if (files.ended()) {  // perhaps not all of them
    for (Entry& entry : entries_) {
      if (!entry.directory.empty()) found.push_back(std::move(entry));
    }
  }
  entries_ = std::move(found);
}

WatchedTrials::Choice WatchedTrials::choose(const std::optional<std::string>& root,
                                            const std::optional<std::string>& trial) {
  Choice choice{nullptr, 404, "there is no such trial"};
  for (Entry& entry : entries_) {
    if ((root && *root != entry.root) || (trial && *trial != entry.name)) continue;
    if (choice.entry != nullptr)
      return {nullptr, 400, "there are several trials; choose one with 'trial' and 'root'"};
    choice = {&entry, 0, ""};
  }
  return choice;
}

Result<Trial*> WatchedTrials::read(Entry& entry, FileSystem& files) {
  files_->use(files);
  entry.used = ++uses_;
  if (entry.trial) {
    const Status refreshed = entry.trial->refresh();
    if (!refreshed) return refreshed.error();
    return &*entry.trial;
  }
  make_room();
  auto trial = Trial::open(*files_, entry.directory, kLimits);
  if (!trial) return trial.error();
  return &entry.trial.emplace(std::move(*trial));
}

// Forgets a trial that has ended, else the one that was not needed for the longest time.
void WatchedTrials::make_room() {
  std::vector<Entry*> read;
  for (Entry& entry : entries_) {
    if (entry.trial) read.push_back(&entry);
  }
  if (read.size() < kMostRead) return;
  const auto goes_first = [](const Entry* a, const Entry* b) {
    const bool a_ended = a->trial->loaded_all_steps();
    const bool b_ended = b->trial->loaded_all_steps();
    return a_ended != b_ended ? a_ended : a->used < b->used;
  };
  (*std::ranges::min_element(read, goes_first))->trial.reset();
}

}  // namespace trainwatch
