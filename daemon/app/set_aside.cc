// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/set_aside.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "trainwatch/state_io.h"

namespace trainwatch {
namespace {

// After a restart the same bytes may be cut at other places, and the note of what was decoded may
// be a little old.
constexpr std::uint64_t kSlack = std::uint64_t{16} << 20U;

bool are_near(const SetAside::Death& one, const SetAside::Death& other) {
  return one.identity == other.identity && one.from <= other.to + kSlack &&
         other.from <= one.to + kSlack;
}

}  // namespace

void SetAside::load(std::string_view version, std::string_view saved) {
  StateIo io = StateIo::loading(saved);
  std::string writer;
  std::vector<Entry> entries;
  io(writer);
  io(entries);
  const std::scoped_lock lock(mutex_);
  if (io.complete() && writer == version && entries.size() <= kMost) entries_ = std::move(entries);
}

std::string SetAside::saved(std::string_view version) const {
  const std::scoped_lock lock(mutex_);
  if (entries_.empty()) return {};
  StateIo io = StateIo::saving();
  std::string writer(version);
  std::vector<Entry> entries = entries_;
  io(writer);
  io(entries);
  return io.take();
}

std::vector<std::string> SetAside::died(const std::vector<Death>& deaths) {
  const std::scoped_lock lock(mutex_);
  std::vector<std::string> set_aside;
  std::vector<Entry> once;
  for (const Death& death : deaths) {
    const auto before = std::ranges::find_if(
        entries_, [&](const Entry& entry) { return are_near(entry.death, death); });
    if (before == entries_.end()) {
      once.push_back({death, false});
    } else if (!std::exchange(before->twice, true)) {
      set_aside.push_back(death.path);
    }
  }
  // The other file was decoded this time, or not looked at: the two were not in a row.
  std::erase_if(entries_, [](const Entry& entry) { return !entry.twice; });
  std::ranges::move(once, std::back_inserter(entries_));
  if (entries_.size() > kMost) {
    entries_.erase(entries_.begin(), entries_.end() - static_cast<std::ptrdiff_t>(kMost));
  }
  return set_aside;
}

std::optional<std::string> SetAside::reason(const FileIdentity& file, std::uint64_t size) const {
  const std::scoped_lock lock(mutex_);
  for (const Entry& entry : entries_) {
    if (!entry.twice || entry.death.identity != file || size <= entry.death.from) continue;
    return "set aside, as trainwatch died twice while it decoded bytes " +
           std::to_string(entry.death.from) + " to " + std::to_string(entry.death.to) +
           "; reload trainwatch to try again";
  }
  return std::nullopt;
}

bool SetAside::empty() const {
  const std::scoped_lock lock(mutex_);
  return entries_.empty();
}

void SetAside::forget() {
  const std::scoped_lock lock(mutex_);
  entries_.clear();
}

}  // namespace trainwatch
