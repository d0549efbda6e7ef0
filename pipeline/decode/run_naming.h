// SPDX-License-Identifier: Apache-2.0
// Which of several runs a file is of, where its directory does not decide it: as its contents say.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trainwatch/time.h"

namespace trainwatch {

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
