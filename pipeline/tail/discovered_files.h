// SPDX-License-Identifier: Apache-2.0
// Handles files that a scan found and that are not known yet: adds them to the table, treats one as
// the replacement of the known file whose content it continues, or makes it wait, and with it the
// later files of its lane.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "pipeline/tail/file_reader.h"
#include "pipeline/tail/file_table.h"
#include "pipeline/tail/paths.h"
#include "pipeline/tail/rotation_matcher.h"
#include "pipeline/tail/watch_root.h"

namespace trainwatch {

// What one scan knows, apart from the files themselves.
struct ScanContext {
  ScanContext(std::uint64_t scan, const Listing& listing, TailSink& to)
      : number(scan),
        sink(to),
        directories(listing.directories.begin(), listing.directories.end()) {}

  std::uint64_t number;
  TailSink& sink;
  std::unordered_set<std::string_view> directories;  // that could be listed

  bool lists_directory_of(std::string_view path) const {
    return directories.contains(parent_of(path));
  }
};

class DiscoveredFiles {
 public:
  DiscoveredFiles(FileSystem& files, FileTable& table, FileReader& reader, const TailLimits& limits,
                  const PatienceClock& clock);

  // Records a file that the current look found and that is not in the table.
  void met(FilePlace place, const FileStat& stat);
  // A look is not atomic: it may find a file but miss an older one of its lane. True if it met
  // files that the previous look did not: look again and meet all of them anew. The second look
  // finds everything that existed when the first one ended, and take_in() skips, in each lane, what
  // follows the last file that both looks met.
  bool look_again();
  // Counts one that the current scan found and that cannot be read any more.
  void left_out() { ++left_out_; }
  // Handles all that the last look met. Call once per scan, after the last met().
  void take_in(const ScanContext& scan);
  // The content of `file` differs from what was read of it, or from its head fingerprint.
  void replaced(TrackedFile& file, TailSink& sink);

  // Later files in the lanes of these must not be read before the next scan.
  const std::vector<FilePlace>& holds() const { return holds_; }
  // True if an undecided file has the base name of `file`: it may be the same file.
  bool may_be_unclear(const TrackedFile& file) const;
  // How many files the last scan left out because of max_files.
  std::uint64_t dropped() const { return dropped_; }

 private:
  struct Discovered {
    FoundFile found;
    bool copy = false;  // of another discovered file
  };

  std::vector<FileIdentity> identities() const;  // of found_, sorted
  void leave_out_later_files();
  void make_room(TailSink& sink);
  void note_copies();
  void take_in(Discovered& discovered, const ScanContext& scan);
  const TrackedFile* plain_of(const TrackedFile& compressed) const;
  void hold_lane(const FoundFile& found);
  void release_holds(const ScanContext& scan);
  void adopt(TrackedFile& file, FoundFile found, TailSink& sink);
  void forget(const std::vector<TrackedFile*>& files, TailSink& sink);

  FileTable& table_;
  FileReader& reader_;
  const TailLimits& limits_;
  const PatienceClock& clock_;
  RotationMatcher matcher_;
  std::vector<Discovered> found_;           // by this look
  std::vector<FileIdentity> found_before_;  // by the previous look, sorted
  std::vector<FilePlace> holds_;
  ConditionTimer holds_unseen_;  // there were holds, but their directories could not be listed
  std::map<FileIdentity, Nanos> unclear_;  // since when
  std::vector<std::string> moved_;         // base names of files that this scan found moved
  std::uint64_t scan_ = 0;
  std::uint64_t dropped_ = 0;
  std::uint64_t left_out_ = 0;  // by the current scan, so far
};

}  // namespace trainwatch
