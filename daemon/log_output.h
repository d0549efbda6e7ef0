// SPDX-License-Identifier: Apache-2.0
// Writes lines to a descriptor, usually standard error, and never waits for whoever reads it: what
// a full pipe does not take is queued up to a limit, and beyond it dropped and counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>

#include "pipeline/tail/file_handle.h"

namespace trainwatch {

// One thread at a time. SIGPIPE must be ignored where the reader of a pipe may go away.
class LogOutput {
 public:
  static constexpr std::size_t kQueueBytes = std::size_t{256} << 10U;

  // Does not own `descriptor`, and leaves its flags alone: other processes may share them.
  explicit LogOutput(int descriptor, std::size_t queue_bytes = kQueueBytes);

  // Adds the newline.
  void write(std::string line) { write_bytes(std::move(line) + '\n'); }
  // Whole lines, or what rewrites one (StatusLine): written or dropped together.
  void write_bytes(std::string bytes);
  // Writes what is queued, as far as it is taken now.
  void flush();

  bool empty() const { return queue_.empty(); }
  // The last line was refused: the reader is gone, or the disk is full.
  bool refused() const { return refused_; }
  // Lines that nobody got: there was no room, or the descriptor refuses bytes for good.
  std::uint64_t dropped() const { return dropped_; }

 private:
  enum class How { file, waiting_file, socket };
  // Bytes taken; 0: none now, negative: never.
  long put(const char* bytes, std::size_t size) const;

  int descriptor_;
  FileHandle own_;  // of another description of the same pipe or terminal, which does not block
  How how_ = How::file;
  std::size_t limit_;
  std::deque<std::string> queue_;
  std::size_t queued_ = 0;  // bytes in queue_
  bool refused_ = false;
  std::size_t begun_ = 0;      // bytes of the first line that were written
  std::uint64_t dropped_ = 0;  // lines
};

}  // namespace trainwatch
