// SPDX-License-Identifier: Apache-2.0
// Which of several runs a file is of, where its directory does not decide it: as its contents say.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "trainwatch/time.h"

namespace trainwatch {

// Of a run's name.
inline constexpr std::size_t kLongestRun = 64;  // bytes

// Not what launchers call a run that nobody named: that is random, another one each time that it is
// started.
inline bool names_a_run(std::string_view id) {
  const auto is_hex = [](char c) {
    return c == '-' || std::isxdigit(static_cast<unsigned char>(c)) != 0;
  };
  const bool random =
      id.size() == 36 && std::ranges::count(id, '-') == 4 && std::ranges::all_of(id, is_hex);
  return !id.empty() && !random;
}

// Who writes a file: a process of a rank, on the node that the name of the file says.
struct FileWriter {
  std::string node;
  std::int32_t rank = -1;
  std::int64_t process = -1;
  // The name of the file has the process behind the node: when the file was begun, another process
  // of this rank may have lived and written one.
  bool named_after_process = false;
  bool other_file = false;  // there is one that is named after the node alone
};

// Called on the decoding thread, about the file that is being decoded. Returns the job that its
// events are of.
class RunNaming {
 public:
  virtual ~RunNaming() = default;
  // The file gives the run a name or a number.
  virtual std::string job_of_run(std::string_view id) = 0;
  // `at`: the time of an event of the process.
  virtual std::string job_of_writer(const FileWriter& writer, Time at) = 0;
};

}  // namespace trainwatch
