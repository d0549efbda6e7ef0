// SPDX-License-Identifier: Apache-2.0
#include "commands/status_stream.h"

#include <ostream>

namespace trainwatch {

void StatusStream::print(std::ostream& to, std::string_view lines) {
  if (const std::string erase = line_.erase(); !erase.empty()) stream_ << erase << std::flush;
  to << lines;
  if (const std::string line = line_.redraw(); !line.empty()) {
    to.flush();
    stream_ << line << std::flush;
  }
}

void StatusStream::show(std::string_view text, Clock::time_point now) {
  if (const std::string bytes = line_.show(text, now); !bytes.empty())
    stream_ << bytes << std::flush;
}

void StatusStream::clear() {
  if (const std::string bytes = line_.clear(); !bytes.empty()) stream_ << bytes << std::flush;
}

}  // namespace trainwatch
