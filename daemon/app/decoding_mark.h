// SPDX-License-Identifier: Apache-2.0
// What each thread was decoding when the process died, if it may have died of that: for the next
// process, which may set the file aside.
//
// A process that somebody kills is decoding something, too, and that file is not to blame. So what
// is being decoded is noted, in a file of the state directory, only where it may be the reason:
// * by the handler of the signal that a fault of the same thread raises,
// * by an exception that ends the thread,
// * once the same file has been decoded for kLookEvery without a pause: the kernel kills a process
//   that takes all memory, and taking it lasts longer.
// The threads that decode write nothing else, and wait for no disk. A power failure may take the
// note along; then the bytes are simply decoded again.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/engine/decode_watch.h"
#include "pipeline/tail/file_handle.h"
#include "trainwatch/result.h"

namespace trainwatch {

class DecodingMark {
 public:
  static constexpr std::chrono::milliseconds kLookEvery{100};

  // Bytes of a file.
  struct Place {
    std::string path;
    std::uint64_t from = 0;
    std::uint64_t to = 0;
  };

  // Notes nothing until it is opened.
  DecodingMark();
  ~DecodingMark();  // of an orderly end: leaves no note
  DecodingMark(const DecodingMark&) = delete;
  DecodingMark& operator=(const DecodingMark&) = delete;

  // Call once, before other threads use this, with the directory locked. Returns what the last
  // process may have died of, only once. Fails if the file cannot be read and written. Handles the
  // signals of faults from then on, and passes them to whoever handled them before.
  Result<std::vector<Place>> open(const std::string& directory);

  // Call every kLookEvery, from any one thread.
  void look();

  // Each for one thread.
  DecodeWatch& engine();
  DecodeWatch& reader();

 private:
  class Thread;

  FileHandle file_;
  std::array<std::unique_ptr<Thread>, 2> threads_;
};

}  // namespace trainwatch
