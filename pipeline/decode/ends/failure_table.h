// SPDX-License-Identifier: Apache-2.0
// The table with which torchrun ends when workers have failed. Of its entries only the root cause
// is read:
//
//     Root Cause (first observed failure):
//     [0]:
//       time      : 2026-09-21_14:18:00
//       host      : node12
//       rank      : 3 (local_rank: 3)
//       exitcode  : -9 (pid: 4711)
//       error_file: <N/A>
//       traceback : Signal 9 (SIGKILL) received by PID 4711
//     ============================================================
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "trainwatch/run_note.h"
#include "trainwatch/state_io.h"
#include "trainwatch/time.h"

namespace trainwatch {

struct RootCause {
  std::optional<Time> at{};
  EndEvidence end{};  // without the file
};

class FailureTable {
 public:
  static bool begins(std::string_view message);

  bool is_open() const { return lines_ > 0; }
  void begin();
  // The next line, with the time that it has. True: the table has ended, and take() has its root
  // cause.
  bool add(std::string_view message, std::optional<Time> at);
  // What has been read of it. nullopt: too little.
  std::optional<RootCause> take();
  void state(StateIo& io);

 private:
  void read_traceback(std::string_view message);

  std::uint32_t lines_ = 0;  // 0: no table is open
  bool in_traceback_ = false;
  bool known_ = false;  // rank or exit code
  bool timed_ = false;
  Time at_{};
  EndEvidence end_{};
};

}  // namespace trainwatch
