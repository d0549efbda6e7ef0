// SPDX-License-Identifier: Apache-2.0
// Which of the files that may be logs (candidate.h) are read: those in whose first bytes there is
// something that the caller knows, unless another file that is read holds the same records.
#pragma once

#include <string>
#include <vector>

#include "pipeline/tail/candidate.h"
#include "pipeline/tail/file_table.h"
#include "pipeline/tail/head_table.h"
#include "pipeline/tail/watch_root.h"

namespace trainwatch {

class LogSearch {
 public:
  // Everything referred to outlives the object. Without a probe there are no candidates.
  LogSearch(FileSystem& files, const std::vector<WatchRoot>& roots, const TailLimits& limits,
            const PatienceClock& clock, ContentProbe probe);

  void begin_scan() {
    unfinished_ = false;
    heads_.begin_scan();
  }
  // Lists the roots, and adds to `listing.files` the candidates that are read, to
  // `listing.skipped` those that are not. What `table` knows is read on, whatever is in it.
  void list(const FileTable& table, Listing& listing);
  // There are files at which this scan had no room to look: the next one does.
  bool unfinished() const { return unfinished_; }
  // One waits for records that show whether it is a copy.
  bool waits() const { return waits_; }

  void look_at(const std::string& path) { heads_.wake(path); }
  bool awaits(const std::string& path) const { return heads_.awaits(path); }
  const HeadTable& heads() const { return heads_; }

 private:
  struct Found {
    NameClaim claim = NameClaim::none;
    std::string path;
    FileHead* head = nullptr;
  };

  void sort_out(std::vector<Candidate> candidates, const FileTable& table, Listing& listing);
  bool goes_on(const std::string& path, const FileHead& head, const FileTable& table) const;
  void settle(Found& found, Listing& listing);
  bool may_show_the_same(const Found& found, const std::string& path, const FileHead& other) const;
  std::vector<const std::string*> neighbours(const std::string& path, const Listing& listing) const;

  FileSystem& files_;
  const std::vector<WatchRoot>& roots_;
  const TailLimits& limits_;
  const PatienceClock& clock_;
  HeadTable heads_;
  bool unfinished_ = false;
  bool waits_ = false;
};

// Lists the roots once and for all, as a tailer would that finds these files finished.
Listing list_with_logs(FileSystem& files, const std::vector<WatchRoot>& roots, TailLimits limits,
                       ContentProbe probe);

}  // namespace trainwatch
