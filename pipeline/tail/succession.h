// Which file goes on with the content of another one: after rotation by copy and truncation, an
// atomic rewrite, a new mount, or anything that happened while nobody looked.
//
// Only files of one base name (ReadOrder::base) are compared. The content decides, never the name.
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

class Succession {
 public:
  enum class Kind : std::uint8_t {
    fresh,      // none of what is known stands in it
    waits,      // a copy of what another file still holds: look again
    unclear,    // not readable now, or it may be one that is not to be seen just now: look again
    continues,  // it holds what was read of `of`, whose own place is empty
    moved,      // as `continues`, but other content stands in that place now
  };
  struct Relation {
    Kind kind = Kind::fresh;
    TrackedFile* of = nullptr;  // with `continues` and `moved`
    // With `fresh`, where a known file tells: TrackedFile::since of its content, none of which was
    // read. It holds what that file held before it was truncated, or that file compressed.
    std::optional<std::int64_t> since;
  };

  Succession(FileSystem& files, const FileTable& table);

  // To be called before the first relate() of scan number `scan`.
  void begin(std::uint64_t scan);
  // Whether it may be one that is known on another device number.
  bool may_be_mounted_again(const FoundFile& found) const;
  // Whether a new file is a copy, perhaps a growing one, of another new one.
  bool copies(const FoundFile& found, const FoundFile& other);
  // What a file that was not seen before has to do with those that were.
  Relation relate(const FoundFile& found);

  struct Search {
    std::optional<FoundFile> heir;  // it holds what was read of the file
    bool strangers = false;         // there are files of its base name that no scan has seen yet
    bool listed = false;            // its directory could be listed
  };
  // Where the content of `file` is now that other content stands in its place.
  Search search(const TrackedFile& file);

 private:
  struct Copy {
    std::uint64_t size = 0;
    std::int64_t modified_ns = 0;
    std::uint64_t seen_in_scan = 0;
  };

  enum class Place : std::uint8_t { own, elsewhere, empty, unknown };
  enum class Likeness : std::uint8_t {
    none,
    copy,  // of a part of what the other one still holds, or of all; it may still be growing
    heir,  // it holds all that was read of the other one, which does not hold that any more
  };

  Place place_of_known(const TrackedFile& known) const;
  Result<Likeness> compare(const FoundFile& found, const TrackedFile& known, Place place);
  bool holds_former(const FoundFile& found, const TrackedFile& known);
  Kind kind_of(const FoundFile& found, const TrackedFile& known);
  bool has_line(OpenFile& file);
  Result<OpenFile*> present_of(const TrackedFile& known, Place place);
  bool still_a_copy(const FoundFile& found, const TrackedFile& original);

  FileSystem& files_;
  const FileTable& table_;
  std::uint64_t scan_ = 0;
  std::multimap<std::string, TrackedFile*> by_base_;
  std::map<FileIdentity, Copy> copies_;  // that wait, as last looked at
  std::vector<char> buffer_;
  std::unique_ptr<OpenFile> reopened_;
};

}  // namespace trainwatch
