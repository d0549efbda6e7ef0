// SPDX-License-Identifier: Apache-2.0
// Where in the files the events of a time are: for each file, stretches of its bytes with the
// earliest and the latest time of the events in them, so that the events of a span of time are
// found without reading anything else.
//
// Bounded: when there are too many stretches, the shortest they may be doubles, and neighbours
// become one. Owned by the engine thread; the state keeps it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/decode/file_window.h"
#include "trainwatch/diagnostics.h"
#include "trainwatch/event.h"
#include "trainwatch/state_rows.h"

namespace trainwatch {

// From the end of the stretch before it, or the file's beginning, to `end`: an offset between two
// records.
struct Stretch {
  std::uint64_t end = 0;
  std::int64_t first_ns = 0;  // of its events; later than last_ns: there are none
  std::int64_t last_ns = 0;
  bool defines = false;    // has records that later ones refer to
  bool continues = false;  // a span that began before it ends in it, or later
};

class TimeIndex {
 public:
  struct Limits {
    std::uint64_t stretch_bytes = std::uint64_t{256} << 10U;  // the shortest, unless a file is
    std::size_t stretches = std::size_t{128} << 10U;          // of all files
    std::size_t retired = 16384;                              // files that nobody follows any more
  };

  TimeIndex() : TimeIndex(Limits{}) {}
  explicit TimeIndex(Limits limits) : limits_(limits), stretch_bytes_(limits.stretch_bytes) {}

  // What a piece of the file showed; pieces come in the order of the file.
  struct Piece {
    std::uint64_t end = 0;  // of the records that are complete
    bool defines = false;
    bool open_span = false;  // behind it
    bool whole = false;      // such files can only be read from their beginning
  };
  void add(FileId file, const Piece& piece, const EventBatch& events);
  // The trace of a rank's profiler has ended: its events lie between these times, and `base_ns` was
  // added to them.
  void add_trace(FileId file, std::int64_t first_ns, std::int64_t last_ns, std::int64_t base_ns,
                 std::int32_t rank);
  // The file has other contents now, or `by` has its contents.
  void clear(FileId file);
  void superseded(FileId file, FileId by);
  // The file is not followed any more, but still there: `known` is what is known of it.
  void retire(FileId file, FileWindow known);
  // Forgets those of them that are over.
  void forget_retired(const std::function<bool(const FileWindow& known)>& over);

  bool touches(FileId file, std::int64_t from_ns, std::int64_t to_ns) const;
  // Which parts of the file have events between these times, both included; false if none has.
  // Adds them to `window`.
  bool find(FileId file, std::int64_t from_ns, std::int64_t to_ns, FileWindow& window) const;
  // The same for all retired files.
  void find_retired(std::int64_t from_ns, std::int64_t to_ns,
                    std::vector<FileWindow>& windows) const;

  std::size_t stretches() const { return stretches_; }

  // A row per 128 stretches of a file.
  void save(StateRows& rows, bool all);
  bool load(const SavedState& saved);

 private:
  struct Times {
    std::vector<Stretch> stretches;
    std::int64_t base_ns = 0;
    std::int32_t rank = kNoRank;  // as a profiler's trace says
    bool whole = false;
    bool open_span = false;
  };
  struct Followed {
    Times times;
    std::size_t changed_from = 0;  // stretch; those before it are saved
    std::size_t rows = 0;          // that are saved
  };
  // Packed, as there are thousands.
  struct Retired {
    std::int64_t first_ns = 0;
    std::int64_t last_ns = 0;
    std::size_t stretches = 0;
    std::string packed;  // what is known of it, and its times
  };
  static Retired pack(FileWindow known, Times times);
  // False: it is damaged.
  static bool unpack(const std::string& packed, FileWindow& known, Times& times);

  static constexpr std::size_t kPerRow = 128;

  void extend(FileId id, const Piece& piece, std::int64_t first_ns, std::int64_t last_ns);
  void make_room();
  std::size_t merge(Times& times) const;
  using Retirees = std::map<std::uint64_t, Retired>;
  Retirees::iterator drop(Retirees::iterator retired);
  static bool touches(const Times& times, std::int64_t from_ns, std::int64_t to_ns);
  static bool find(const Times& times, std::int64_t from_ns, std::int64_t to_ns,
                   FileWindow& window);
  void save(FileId id, Followed& file, StateRows& rows, bool all);

  Limits limits_;
  std::uint64_t stretch_bytes_;
  std::map<FileId, Followed> files_;
  std::set<FileId> changed_;
  std::map<FileId, std::size_t> removed_;     // rows of files that are not followed any more
  std::map<std::uint64_t, Retired> retired_;  // by number, oldest first
  std::uint64_t next_retired_ = 0;
  std::uint64_t retired_saved_ = 0;             // the number behind the last that is saved
  std::vector<std::uint64_t> removed_retired_;  // rows
  std::size_t stretches_ = 0;
};

}  // namespace trainwatch
