// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tail/log_search.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "pipeline/tail/head_likeness.h"
#include "pipeline/tail/lane.h"
#include "pipeline/tail/paths.h"

namespace trainwatch {
namespace {

using Answer = HeadContent::Answer;
using Fate = FileHead::Fate;

// A log is compared with so many others, those that lie nearest.
constexpr std::size_t kMostCompared = 64;

bool is_text_log(std::string_view name) {
  return is_console_name(name) || may_name_a_log(name);
}

// Of stdout: buffered, if it is a file, while a logger beside it writes at once.
bool may_be_late(std::string_view name) {
  return is_console_name(name) && !name.ends_with(".err") && !name.starts_with("stderr");
}

// Pieces of one rotated log.
bool have_one_base(std::string_view a, std::string_view b) {
  return parent_of(a) == parent_of(b) &&
         without_rotation(name_of(a)) == without_rotation(name_of(b));
}

// Of two paths, up to the last directory that contains both.
std::size_t common_length(std::string_view a, std::string_view b) {
  const auto [end, other_end] = std::ranges::mismatch(a, b);
  const auto common = static_cast<std::size_t>(end - a.begin());
  const std::size_t slash = a.substr(0, common).rfind('/');
  return slash == std::string_view::npos ? 0 : slash;
}

}  // namespace

LogSearch::LogSearch(FileSystem& files, const std::vector<WatchRoot>& roots,
                     const TailLimits& limits, const PatienceClock& clock, ContentProbe probe)
    : files_(files),
      roots_(roots),
      limits_(limits),
      clock_(clock),
      heads_(files, limits, clock, std::move(probe)) {}

void LogSearch::list(const FileTable& table, Listing& listing) {
  if (!heads_.can_look()) return list_roots(files_, roots_, limits_.max_depth, listing);
  CandidateList candidates(limits_.max_candidates);
  list_roots(files_, roots_, limits_.max_depth, listing, &candidates,
             [&table](const std::string& path) { return table.at_path(path) != nullptr; });
  sort_out(candidates.take(listing.skipped), table, listing);
}

void LogSearch::sort_out(std::vector<Candidate> candidates, const FileTable& table,
                         Listing& listing) {
  waits_ = false;
  std::vector<Found> open;
  for (Candidate& each : candidates) {
    FileHead* const head = heads_.visit(each.path, each.claim);
    if (head == nullptr) continue;
    if (head->fate == Fate::log || goes_on(each.path, *head, table)) {
      listing.files.push_back(std::move(each.path));
      continue;
    }
    if (head->fate == Fate::copy) {
      const bool stays = table.at_path(head->of) != nullptr || files_.stat(head->of).ok();
      if (stays) {
        listing.skipped.add(std::move(each.path), SkipReason::copy, head->of);
        continue;
      }
      head->fate = Fate::open;
    }
    if (!heads_.look(each.path, *head)) {
      unfinished_ = true;
      listing.skipped.add(std::move(each.path), SkipReason::not_looked_at);
    } else if (head->content.answer == Answer::yes) {
      open.push_back({each.claim, std::move(each.path), head});
    } else if (head->size > 0) {
      listing.skipped.add(std::move(each.path), SkipReason::no_known_format);
    }
  }
  // Of two that are the same, the one with the surer name is read, then the longer one.
  std::ranges::sort(open, [](const Found& a, const Found& b) {
    return std::tie(a.claim, b.head->size, a.path) < std::tie(b.claim, a.head->size, b.path);
  });
  for (Found& found : open) settle(found, listing);
}

// It was read under another name, or before a restart, or is the next piece of a log that is read.
bool LogSearch::goes_on(const std::string& path, const FileHead& head,
                        const FileTable& table) const {
  if (table.find(head.identity) != nullptr) return true;
  return head.looks == 0 && !table.same_base(place_of(path).order.base).empty();
}

void LogSearch::settle(Found& found, Listing& listing) {
  FileHead& head = *found.head;
  bool unclear = false;
  for (const std::string* const path : neighbours(found.path, listing)) {
    FileHead* const other = heads_.visit(*path, claim_of(name_of(*path)));
    if (other == nullptr || other == &head) continue;
    if (!heads_.look(*path, *other)) {
      unfinished_ = true;
      return;
    }
    const Likeness likeness = likeness_of(head.content, other->content);
    if (likeness == Likeness::same) {
      head.fate = Fate::copy;
      head.of = *path;
      listing.skipped.add(std::move(found.path), SkipReason::copy, *path);
      return;
    }
    const bool more_may_come = !head.settled || !other->settled;
    unclear = unclear || (likeness == Likeness::alike && more_may_come) ||
              may_show_the_same(found, *path, *other);
  }
  head.waits.set(unclear, clock_.now());
  if (unclear && !head.waits.held_for(limits_.copy_patience, clock_.now())) {
    waits_ = true;  // nothing is lost: what it holds so far is in the other one
    return;
  }
  head.fate = Fate::log;
  listing.files.push_back(std::move(found.path));
}

// The other one has no records yet, but may get those that this one has.
bool LogSearch::may_show_the_same(const Found& found, const std::string& path,
                                  const FileHead& other) const {
  return !other.settled && other.content.records.empty() && !found.head->content.records.empty() &&
         may_be_late(name_of(path)) && parent_of(path) == parent_of(found.path);
}

Listing list_with_logs(FileSystem& files, const std::vector<WatchRoot>& roots, TailLimits limits,
                       ContentProbe probe) {
  limits.copy_patience = Nanos{0};
  const PatienceClock clock(limits.longest_gap);
  const FileTable none(files, limits, clock);
  LogSearch search(files, roots, limits, clock, std::move(probe));
  Listing listing;
  do {
    search.begin_scan();
    search.list(none, listing);
  } while (search.unfinished());
  return listing;
}

std::vector<const std::string*> LogSearch::neighbours(const std::string& path,
                                                      const Listing& listing) const {
  struct Near {
    std::size_t common = 0;
    const std::string* path = nullptr;
  };
  const WatchRoot* const root = root_of(path, roots_);
  std::vector<Near> near;
  for (const std::string& other : listing.files) {
    if (!is_text_log(name_of(other)) || have_one_base(path, other)) continue;
    if (root_of(other, roots_) == root) near.push_back({common_length(path, other), &other});
  }
  const auto end = near.begin() + static_cast<std::ptrdiff_t>(std::min(near.size(), kMostCompared));
  std::ranges::partial_sort(near, end, [](const Near& a, const Near& b) {
    return a.common != b.common ? a.common > b.common : *a.path < *b.path;
  });
  std::vector<const std::string*> nearest;
  for (auto each = near.begin(); each != end; ++each) nearest.push_back(each->path);
  return nearest;
}

}  // namespace trainwatch
