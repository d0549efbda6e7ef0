// SPDX-License-Identifier: Apache-2.0
// Reads of files only what has the events of a span of time, and passes these on.
//
// One thread. A file that is not there any more, or has other contents now, is left out and
// counted, and so are those for which the bytes that may be read do not suffice.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/decode/file_window.h"
#include "pipeline/timeline/event_reader.h"
#include "trainwatch/interner.h"
#include "trainwatch/result.h"

namespace trainwatch {

class WindowReader {
 public:
  struct Losses {
    std::uint64_t files_gone = 0;     // or replaced by others
    std::uint64_t files_too_far = 0;  // beyond the bytes that may be read
    std::uint64_t files_broken = 0;   // reading failed
    std::uint64_t records = 0;
  };
  // Called before the events of each file come.
  using Begin = std::function<void(const FileWindow& file)>;

  // All outlive this. At most `most_bytes` are read. `step`, if there is one, receives the events
  // of timelines with a step number.
  WindowReader(FileSystem& files, TrackTable& tracks, TimelineSink& sink, TimeWindow window,
               std::uint64_t most_bytes, Begin begin = {}, PhaseReader::TakeStep step = {});

  // In this order, which decides what is left out. Groups of processes are named after ranks, and
  // after jobs if there are several. Call once.
  void read(const std::vector<FileWindow>& windows);

  const Losses& losses() const { return losses_; }

 private:
  void read(const FileWindow& file, std::size_t number);
  std::unique_ptr<EventReader> reader_of(const FileWindow& file, std::size_t number);
  Status read_parts(OpenFile& open, const FileWindow& file, EventReader& reader);
  Status read_whole(OpenFile& open, const FileWindow& file, EventReader& reader);
  Status read_range(OpenFile& open, ByteRange range,
                    const std::function<bool(std::string_view)>& take);

  FileSystem& files_;
  TrackTable& tracks_;
  TimelineSink& sink_;
  TimeWindow window_;
  std::uint64_t bytes_left_;
  Begin begin_;
  PhaseReader::TakeStep step_;
  Interner interner_;
  bool several_jobs_ = false;
  std::string buffer_;
  Losses losses_;
};

// When the profile of TensorFlow at this path began, as the name of a file in its metadata
// directory says; nullopt: none does.
std::optional<std::int64_t> tensorflow_start_ns(FileSystem& files, const std::string& path);

}  // namespace trainwatch
