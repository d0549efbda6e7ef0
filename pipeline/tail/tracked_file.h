// SPDX-License-Identifier: Apache-2.0
// One file that the tailer knows: its identity, how far it was read, where it is, and its phase.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/tail/file_phase.h"
#include "pipeline/tail/file_system.h"
#include "pipeline/tail/fingerprint.h"
#include "pipeline/tail/lane.h"
#include "pipeline/tail/patience.h"
#include "trainwatch/diagnostics.h"
#include "trainwatch/event.h"

namespace trainwatch {

// How many bytes a writer may take back: smdebug removes ",\n" and writes "\n]"; Python's trace
// export removes ", " and writes "]".
inline constexpr std::size_t kLongestCut = 2;

// Whether reading a file is on hold: until the next scan or, after failures, for a growing delay.
class ReadHold {
 public:
  bool active() const { return active_; }
  unsigned failures() const { return failures_; }  // in a row
  bool failing_for(Nanos patience, Nanos now) const { return failing_.held_for(patience, now); }

  void until_next_scan() { active_ = true; }
  void failed(Nanos wait, Nanos now) {
    active_ = true;
    retry_at_ = now + wait;
    ++failures_;
    failing_.set(true, now);
  }
  void succeeded() { failures_ = 0; }
  // Other files wait for this one from now on: retry soon, and count the failing time from here.
  void hurry(Nanos longest_wait, Nanos now) {
    retry_at_ = std::min(retry_at_, now + longest_wait);
    failing_.clear();
    failing_.set(true, now);
  }
  // A scan has begun.
  void scanned(Nanos now) {
    if (now >= retry_at_) active_ = false;
    if (failures_ == 0) failing_.clear();
  }
  // Lets it be read at once, although it failed before.
  void release() {
    active_ = false;
    retry_at_ = Nanos{0};
  }
  void clear() { *this = {}; }

 private:
  bool active_ = false;
  Nanos retry_at_{0};
  unsigned failures_ = 0;
  ConditionTimer failing_;
};

struct TrackedFile {
  // Its identity, and its position among the others.
  struct Identity {
    FileId id{};
    // The age of its content: contents are ordered by when they were first seen. If a file was
    // copied and truncated, the copy comes before what was written afterwards, and both come before
    // everything that was seen later.
    std::int64_t since = 0;
    LaneId lane{};
    bool lane_is_single = false;
    ReadOrder order;  // its path is the path of the file
    FileIdentity inode;
    std::uint32_t generation = 0;  // 0: unknown
  };
  // How far it was read, and what there is to read.
  struct Progress {
    std::uint64_t size = 0;  // as last seen
    // The size of the file if the last read found a hole at its end; 0: it did not.
    std::uint64_t hole_end = 0;
    // Of what was read. Its last bytes are read again together with what follows: if they differ,
    // the file was truncated or rewritten, whatever its size.
    Fingerprint read;
    // The head fingerprint: the first bytes when they were first seen; kept until they are read.
    std::string head;
    std::string former_head;            // of content that vanished unread; kept for one scan
    std::uint64_t unread_when_cut = 0;  // unread bytes when the file got smaller
    std::int64_t modified_ns = 0;
    bool touched = false;  // changed since it was last read
    bool gzip = false;     // its first bytes say so; not known after a restart
    bool foreign = false;  // it was read at once, and showed nothing of ours, if that was asked
    // What to compare with `read` before reading on. After a restart: the beginning, or everything
    // if the identity is in doubt.
    enum class Doubt : std::uint8_t { none, beginning, all };
    Doubt doubt = Doubt::none;
    std::string error;  // of the last read; empty if it succeeded
  };
  // Where it is: its name as the last scan saw it, its inode, its descriptor.
  struct Presence {
    std::uint64_t seen_in_scan = 0;
    std::string seen_as;        // its path in this scan, if that is a new one
    bool missing = false;       // the last scan did not see it
    unsigned missed_scans = 0;  // in a row
    ConditionTimer gone;        // missing
    ConditionTimer unlisted;    // its directory could not be listed
    ConditionTimer quiet;       // rotated or missing, and without new data
    bool passed = false;        // its lane has a newer file
    bool was_newest = false;    // some scan since the start saw it as the newest of its lane

    bool linked = true;
    std::unique_ptr<OpenFile> handle;              // null while closed to save descriptors
    std::list<TrackedFile*>::iterator among_open;  // of the table; while open
    bool was_open = false;
    Nanos changed{0};        // when its size or its time of modification last changed
    Nanos next_look{0};      // while it rests, not looked at before then
    bool remote = false;     // on a network file system; known once it was opened
    bool shrunk = false;     // remote, and appears shorter than what was read
    ConditionTimer shorter;  // likewise, even once that is accepted

    void unseen() {
      seen_in_scan = 0;
      seen_as.clear();
    }
    void found() {
      missing = false;
      missed_scans = 0;
      gone.clear();
    }
    void missed(Nanos now) {
      missing = true;
      ++missed_scans;
      gone.set(true, now);
    }
  };

  Identity identity;
  Progress progress;
  Presence presence;
  FilePhase phase;
  ReadHold hold;

  const std::string& path() const { return identity.order.path; }
  std::uint64_t offset() const { return progress.read.offset(); }
  bool at_end() const { return !progress.touched && progress.size <= offset(); }
  bool unread() const { return !hold.active() && !at_end(); }
};

// It never had content as far as anybody saw: nothing is lost if it is forgotten.
inline bool is_untouched(const TrackedFile& file) {
  return !file.phase.opened() && file.offset() == 0 && file.progress.size == 0;
}

// True if a scan has nothing to do here: the file is at its path and has been read to its end, and
// if a newer file of its lane has replaced it, it is finished.
inline bool is_settled(const TrackedFile& file) {
  const bool ends = file.identity.order.age != 0 || file.phase.end_is_due();
  return file.at_end() && !file.presence.missing && !file.hold.active() &&
         (!ends || file.phase.finished());
}

// Gives back memory that the file needs only while it grows.
inline void lighten(TrackedFile& file) {
  file.progress.read.shrink();
  for (std::string* const text : {&file.progress.head, &file.progress.former_head,
                                  &file.progress.error, &file.presence.seen_as}) {
    text->shrink_to_fit();
  }
}

// Updates the file from the result of stat(). A remote file that appears shorter than what was read
// is accepted as such after `patience`. True if there may be something to read.
bool observe(TrackedFile& file, const FileStat& stat, Nanos patience, Nanos now);

struct ReadStep {
  std::uint64_t cut = 0;   // bytes that the writer took back, 1 or 2
  bool replaced = false;   // the file has other content: nothing was read
  std::string_view bytes;  // what follows; empty at the end
};

// Reads at most `buffer.size() - Fingerprint::kTail` new bytes at the offset, and advances it. Does
// not read NULs at the end of the file until they are overwritten or more bytes follow them. The
// result points into `buffer`. The file must be open; an error leaves it unchanged.
Result<ReadStep> read_on(TrackedFile& file, std::span<char> buffer);

// Starts over: nothing of the file counts as read. Returns the number of bytes known to have been
// destroyed before they were read.
std::uint64_t restart(TrackedFile& file);

// The file has first bytes that were not examined yet, and its name may be reused: one with a time
// stamp is not.
inline bool begins(const TrackedFile& file) {
  return file.identity.lane_is_single && file.offset() == 0 && file.progress.size > 0 &&
         file.progress.head.empty();
}

// Its head fingerprint could be longer by now.
inline bool shows_more(const TrackedFile& file) {
  const std::uint64_t noted = file.progress.head.size() + kLongestCut;
  return file.identity.lane_is_single && file.offset() == 0 && noted < Fingerprint::kTail &&
         file.progress.size > noted;
}

// Takes the head fingerprint of the file, open as `handle`, unless it contradicts the one taken
// before: then the file was truncated and begun anew, and a copy may hold its former content.
Status note_head(OpenFile& handle, TrackedFile& file);

}  // namespace trainwatch
