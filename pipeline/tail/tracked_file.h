// One file that the tailer knows: what was seen of it and how far it was read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/tail/content_mark.h"
#include "pipeline/tail/file_system.h"
#include "pipeline/tail/lane.h"
#include "trainwatch/diagnostics.h"
#include "trainwatch/event.h"

namespace trainwatch {

// What a writer may take back: smdebug takes ",\n" and writes "\n]"; Python's trace export takes ",
// " and writes "]".
inline constexpr std::size_t kLongestCut = 2;

// For how many polls a file that cannot be read or looked into holds back its lane.
inline constexpr unsigned kLongestHold = 64;
// How often it is tried meanwhile.
inline constexpr unsigned kRetryWhileLaneWaits = 4;

struct TrackedFile {
  FileId id{};
  // The order in which files were first seen, as far as their content was: of a file that was
  // copied and truncated, the copy comes before what was written after that, and both come before
  // all that was seen later.
  std::int64_t since = 0;
  LaneId lane{};
  bool lane_is_single = false;
  std::size_t root = 0;
  ReadOrder order;  // its path is the file's path
  FileIdentity identity;
  std::uint32_t generation = 0;      // 0: not known
  std::unique_ptr<OpenFile> handle;  // null while closed to save descriptors

  std::uint64_t size = 0;  // as last seen
  // What was read. Its last bytes are read again with what follows: when they differ, the file was
  // cut or rewritten, however large it is now.
  ContentMark read;
  // What it began with when it was first seen, until that is read.
  std::string first_sight;
  std::string former_sight;  // the same of content that was gone before it was read; for one scan
  std::uint64_t unread_when_cut = 0;  // bytes that were there to read when it got smaller
  std::int64_t modified_ns = 0;
  bool touched = false;  // changed since it was last read
  bool linked = true;
  // What has to be compared with `read` before more is read: after a restart the beginning, where
  // the identity is in doubt everything.
  enum class Doubt : std::uint8_t { none, beginning, all };
  Doubt doubt = Doubt::none;

  bool announced = false;  // the sink heard opened()
  bool passed = false;     // a newer file of its lane was seen
  bool ending = false;     // gone, replaced, or its lane went on
  bool finished = false;   // the sink heard finished()
  bool blocked = false;    // failed; left alone for `wait_polls`
  unsigned wait_polls = 0;
  unsigned failures = 0;       // in a row
  unsigned failing_polls = 0;  // for how long
  std::string error;

  bool was_open = false;
  bool remote = false;        // on a network file system, as far as it was open
  bool shrunk = false;        // remote, and seems shorter than what was read
  unsigned shrunk_polls = 0;  // for how long

  std::uint64_t seen_in_scan = 0;
  std::string seen_as;          // its name in this scan when that is a new one
  bool missing = false;         // the last scan did not see it
  unsigned missing_polls = 0;   // for how long
  unsigned unlisted_polls = 0;  // for how long its directory could not be listed
  unsigned quiet_polls = 0;     // for how long there was nothing new in it
  std::uint64_t last_used = 0;  // for choosing which descriptor to close

  std::uint64_t offset() const { return read.offset(); }
  bool unread() const { return !blocked && (touched || size > offset()); }
  bool at_end() const { return !touched && size <= offset(); }
};

// Takes in what stat() says. A remote file that seems shorter than what was read is believed after
// `patience` polls. True when there may be something to read.
bool observe(TrackedFile& file, const FileStat& stat, unsigned patience);

struct ReadStep {
  std::uint64_t cut = 0;   // bytes that the writer took back, 1 or 2
  bool displaced = false;  // other content stands there: nothing was read, the offset is as it was
  std::string_view bytes;  // what follows; empty at the end
};

// Reads at the offset and moves it: at most `buffer.size() - ContentMark::kTail` new bytes. The
// result points into `buffer`. The file must be open; it stays as it was after an error.
Result<ReadStep> read_on(TrackedFile& file, std::span<char> buffer);

// The file begins anew: nothing of it was read. Returns how many bytes are known to have gone
// unread.
std::uint64_t restart(TrackedFile& file);

}  // namespace trainwatch
