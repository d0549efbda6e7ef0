// Takes the files that a scan found and that are not known yet into the table, goes on in them with
// a known one whose content they hold, or lets them wait, and with them what follows in their lane.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "pipeline/tail/discovery.h"
#include "pipeline/tail/file_reader.h"
#include "pipeline/tail/file_table.h"
#include "pipeline/tail/succession.h"

namespace trainwatch {

// What one scan knows besides the files.
struct ScanContext {
  std::uint64_t number = 0;
  unsigned age = 0;  // polls that it counts for
  const Listing& listing;
  TailSink& sink;

  // Whether the directory that `path` is in could be listed.
  bool lists_directory_of(const std::string& path) const;
};

class Newcomers {
 public:
  Newcomers(FileSystem& files, FileTable& table, FileReader& reader, const TailLimits& limits);

  // A file of the present scan that the table does not have.
  void met(FilePlace place, const FileStat& stat, std::size_t root);
  // All of them; to be called once a scan, after the last met().
  void take_in(const ScanContext& scan);
  // Other content stands where `file` was read, or was to be read for the first time.
  void replaced(TrackedFile& file, TailSink& sink);

  // What comes after one of these in its lane is not to be read before the next scan.
  const std::vector<FilePlace>& holds() const { return holds_; }
  // Whether a file of that base name could not be looked into: it may be this one.
  bool may_be_unclear(const TrackedFile& file) const;
  // How many the last scan left out because of max_files.
  std::uint64_t dropped() const { return dropped_; }

 private:
  struct Newcomer {
    FoundFile found;
    std::size_t root = 0;
    bool copy = false;  // of another one
  };

  void take_in(Newcomer& newcomer, const ScanContext& scan);
  const TrackedFile* plain_of(const TrackedFile& compressed) const;
  void hold_lane(const FoundFile& found, unsigned age);
  void release_holds(const ScanContext& scan);
  void adopt(TrackedFile& file, FoundFile found, TailSink& sink);
  void forget(const std::vector<TrackedFile*>& files, TailSink& sink);

  FileTable& table_;
  FileReader& reader_;
  const TailLimits& limits_;
  Succession succession_;
  std::vector<Newcomer> found_;  // in this scan
  std::vector<FilePlace> holds_;
  unsigned held_unlisted_ = 0;  // for how many polls holds were kept without having been seen
  std::map<FileIdentity, unsigned> unclear_;  // for how many polls
  std::vector<std::string> moved_;            // base names of what this scan found moved
  std::uint64_t scan_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace trainwatch
