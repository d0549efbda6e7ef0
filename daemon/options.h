// What the command line asks of each command. Plain values; config_source.h says how flags,
// environment and file become a Config.
#pragma once

#include <chrono>
#include <string>

#include "trainwatch/time.h"

namespace trainwatch {

struct SampleOptions {
  std::string out;  // the job's directory; made when absent
  Nanos interval = std::chrono::milliseconds{500};
  Nanos duration{};  // 0: until SIGINT or SIGTERM
  std::string node;  // empty: the host's name
  int pid = 0;       // also stop when this process ends; 0: none
  std::string proc = "/proc";
};

}  // namespace trainwatch
