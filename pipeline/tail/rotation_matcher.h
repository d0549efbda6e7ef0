// SPDX-License-Identifier: Apache-2.0
// Finds the file that continues the content of another one: after rotation by copy and truncation,
// an atomic rewrite, a new mount, or changes made while trainwatch was not running.
//
// Only files with the same base name (ReadOrder::base) are compared. The content decides, never the
// name.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "pipeline/tail/file_table.h"

namespace trainwatch {

struct FoundFile {
  FilePlace place;
  FileStat stat;
};

class RotationMatcher {
 public:
  enum class Kind : std::uint8_t {
    fresh,      // unrelated to any known file
    waits,      // a copy of what another file still holds: compare again in the next scan
    unclear,    // unreadable, or perhaps a known file that is hidden in this scan: likewise
    continues,  // holds what was read of `of`, whose own place is empty
    moved,      // as `continues`, but the place of `of` has other content now
  };
  struct Relation {
    Kind kind = Kind::fresh;
    TrackedFile* of = nullptr;  // with `continues` and `moved`
    // With `fresh`, if it holds what an unread known file held before it was truncated, or is a
    // compressed form of that file: the age of that content (see TrackedFile::Identity::since).
    std::optional<std::int64_t> since;
  };

  RotationMatcher(FileSystem& files, const FileTable& table);

  // Call before the first relate() of scan number `scan`.
  void begin(std::uint64_t scan);
  // True if it may be a known file under another device number.
  bool may_be_mounted_again(const FoundFile& found) const;
  // True if a new file is a copy, perhaps a growing one, of another new one.
  bool copies(const FoundFile& found, const FoundFile& other);
  // How a newly found file relates to the known ones.
  Relation relate(const FoundFile& found);

  struct Search {
    std::optional<FoundFile> replacement;  // holds what was read of the file
    bool unknown_siblings = false;         // files of its base name that no scan has seen yet exist
    bool listed = false;                   // its directory could be listed
  };
  // Finds the content of `file` after other content has taken its place.
  Search search(const TrackedFile& file);

 private:
  struct Copy {
    std::uint64_t size = 0;
    std::int64_t modified_ns = 0;
    std::uint64_t seen_in_scan = 0;
  };

  enum class Place : std::uint8_t { own, elsewhere, empty, unknown };
  enum class Match : std::uint8_t {
    none,
    copy,         // of part or all of what the other file still holds; may still be growing
    replacement,  // holds all that was read of the other file, which does not hold it any more
  };

  std::vector<TrackedFile*> candidates(const FoundFile& found) const;
  Place place_of_known(const TrackedFile& known) const;
  Result<Match> compare(const FoundFile& found, const TrackedFile& known, Place place);
  bool holds_former(const FoundFile& found, const TrackedFile& known);
  Kind kind_of(const FoundFile& found, const TrackedFile& known);
  bool has_line(OpenFile& file);
  Result<OpenFile*> present_of(const TrackedFile& known, Place place);
  bool still_a_copy(const FoundFile& found, const TrackedFile& original);

  FileSystem& files_;
  const FileTable& table_;
  std::uint64_t scan_ = 0;
  std::map<FileIdentity, Copy> copies_;  // waiting ones, as last compared
  std::vector<char> buffer_;
  std::unique_ptr<OpenFile> reopened_;
};

}  // namespace trainwatch
