// Finds the files below the watched roots and reads what is new in them.
//
// One pass is scan() and then read() until it has nothing more: every file that was there when the
// scan began is read to its end, in the order of `ReadOrder` (time stamp in the name, then path).
// A writer finishes a file before it begins the next one of its lane, so listing first and reading
// second keeps the order within a lane. Polling is the truth; inotify (InotifyHint) only says when
// the next pass is worth while. When it says that known files changed, refresh() is a scan() that
// lists nothing.
//
// No threads, no clock. Used by one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/tail/file_system.h"
#include "pipeline/tail/known_file.h"
#include "trainwatch/diagnostics.h"
#include "trainwatch/event.h"

namespace trainwatch {

struct WatchRoot {
  std::string path;    // a directory tree, or one file
  std::string source;  // the name in metrics and status; by default the path
};

// Patience is counted in polls (see Tailer::scan): there is no clock here. The defaults suit one
// poll a second.
struct TailLimits {
  std::size_t chunk_bytes = std::size_t{256} << 10U;
  std::size_t max_files = 4096;
  // Files that were read, and were followed by others of their lane, stay known up to so many.
  std::size_t max_done_files = 512;
  std::size_t max_open_files = 256;
  int max_depth = 12;
  // A writer may go on for a while with a file whose name is gone or was rotated.
  unsigned linger_polls = 5;
  // A file whose name is nowhere, but whose inode may live on (moved out of the tree, unmounted):
  // it may come back, so its decoder is kept for so long.
  unsigned gone_polls = 300;
  // The longest wait between two tries at a file that fails; it doubles from 1.
  unsigned retry_polls = 60;
  // A network file system may show an old size for a while (NFS: 3 s by default).
  unsigned shrunk_polls = 4;
};

// Hears what the tailer found. Calls come in file order; `bytes` is valid during the call only.
// Of one file: opened, then all else; after finished() it may still be renamed, and when it grows
// against all expectation its data goes on. What a sink has heard is all that a TailCheckpoint
// holds: a sink that saves it can start a tailer that goes on there.
class TailSink {
 public:
  virtual ~TailSink() = default;
  // Comes right before the first data or error; an empty file is not opened yet. `plain` names the
  // files that this one, which is compressed, may repeat the content of: the sink has to find out.
  virtual void opened(const KnownFile& file, const std::string& lane,
                      const std::vector<FileId>& plain) = 0;
  virtual void data(FileId file, std::string_view bytes) = 0;
  // The same content has a new name ("x.json.tmp" -> "x.json"), or lies in another inode: it was
  // written anew, copied before it was truncated, or its file system mounted again.
  virtual void renamed(const KnownFile& file) = 0;
  // The file lost its last 1 or 2 bytes: a writer closes its array. Reading goes on at the new end.
  virtual void cut_back(FileId file, std::uint64_t bytes) = 0;
  // Truncated or replaced in place: the next data() begins at offset 0 of new content.
  // `lost` is how many bytes are known to have gone unread.
  virtual void restarted(FileId file, std::uint64_t lost) = 0;
  // No more will come: the file is gone, or a newer file of its lane has begun.
  virtual void finished(FileId file) = 0;
  // It is tried again, less and less often; told once for as long as the message stays the same.
  virtual void read_error(FileId file, const std::string& what) = 0;
  // Nothing more will be said of the file. `barred`: it is still there, and neither it nor what
  // comes before it in its lane will be read again.
  virtual void forgotten(FileId file, bool barred) = 0;
};

struct TailedFile {  // for /api/v1/status
  FileId file{};
  LaneId lane{};
  std::string path;
  std::uint64_t size = 0;    // as last seen
  std::uint64_t offset = 0;  // read up to here
  std::string error;         // the last read error, empty when it went well since
};

class Tailer {
 public:
  Tailer(FileSystem& files, std::vector<WatchRoot> roots, TailLimits limits = {},
         const TailCheckpoint& resume = {});
  ~Tailer();

  // A poll comes at regular intervals; a wake-up may come at any time and does not wear patience.
  enum class Look : std::uint8_t { poll, wake_up };

  // Looks for new, renamed, grown, cut and vanished files and tells the sink. A root that does not
  // exist yet is not an error: it is looked for again at each scan.
  void scan(TailSink& sink, Look look = Look::poll);

  // Looks whether known, unfinished files have grown or were cut; finds no new, renamed or vanished
  // ones and lists no directory. For wake-ups between scans; does not replace the regular scan.
  // False: a file has begun, and is read only after a scan.
  bool refresh();

  // Reads one chunk of the next file that has unread bytes. False when all are at their end.
  bool read(TailSink& sink);

  std::vector<TailedFile> files() const;
  std::uint64_t unread_bytes() const;
  // How many files the last scan left out because of max_files. The next scan takes them in as
  // soon as others are read and can be forgotten.
  std::uint64_t files_dropped() const;
  // The directories that the last scan listed, for InotifyHint.
  const std::vector<std::string>& directories() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace trainwatch
