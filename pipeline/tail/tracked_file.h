// One file that the tailer knows: what was seen of it and how far it was read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "pipeline/tail/file_system.h"
#include "pipeline/tail/lane.h"
#include "trainwatch/diagnostics.h"
#include "trainwatch/event.h"

namespace trainwatch {

struct TrackedFile {
  FileId id{};
  LaneId lane{};
  bool lane_is_single = false;
  std::size_t root = 0;
  ReadOrder order;  // its path is the file's path
  FileIdentity identity;
  std::unique_ptr<OpenFile> handle;  // null while closed to save descriptors

  std::uint64_t size = 0;  // as last seen
  std::uint64_t offset = 0;
  std::uint64_t unread_when_cut = 0;  // bytes that were there to read when it got smaller
  std::int64_t modified_ns = 0;
  bool touched = false;  // changed since it was last read
  bool linked = true;

  bool announced = false;  // the sink heard opened()
  bool ending = false;     // gone, replaced, or its lane went on
  bool finished = false;   // the sink heard finished()
  bool blocked = false;    // failed; left alone until the next scan
  std::string error;

  std::uint64_t seen_in_scan = 0;
  std::string seen_as;          // its name in this scan when that is a new one
  unsigned missing_scans = 0;   // how many scans in a row did not see it
  unsigned quiet_scans = 0;     // of those, with nothing left to read
  std::uint64_t last_used = 0;  // for choosing which descriptor to close

  // The bytes before `offset`. They are read again with what follows: when they differ, the file
  // was cut or rewritten, however large it is now.
  static constexpr std::size_t kTail = 32;
  std::array<char, kTail> tail{};
  std::size_t tail_size = 0;

  bool unread() const { return !blocked && (touched || size > offset); }
  bool at_end() const { return !touched && size <= offset; }
};

// Takes in what stat() says. True when there may be something to read.
bool observe(TrackedFile& file, const FileStat& stat);

struct ReadStep {
  std::uint64_t cut = 0;   // bytes that the writer took back, 1 or 2
  bool restarted = false;  // other content: nothing was read, the offset is 0 again
  std::uint64_t lost = 0;  // with `restarted`: bytes known to have gone unread
  std::string_view bytes;  // what follows; empty at the end
};

// Reads at the offset and moves it: at most `buffer.size() - kTail` new bytes. The result points
// into `buffer`. The file must be open; it stays as it was after an error.
Result<ReadStep> read_on(TrackedFile& file, std::span<char> buffer);

}  // namespace trainwatch
