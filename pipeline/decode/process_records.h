// SPDX-License-Identifier: Apache-2.0
// What a timeline says of the process that writes it: one record when its file begins, one when the
// process ends (docs/formats.md). Any other record has nothing of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "trainwatch/run_note.h"

namespace trainwatch {

// Arguments of the metadata "process_labels".
struct ProcessLabels {
  std::optional<std::int64_t> start_ns{};  // of the process; since 1970
  std::int64_t process = -1;               // its id; < 0: not said
  std::uint32_t world_size = 0;            // 0: not said
};
ProcessLabels read_process_labels(std::string_view record);

// Arguments of the instant "process_end", as evidence without rank, node and file. What is not
// understood is an end of which nothing is known.
EndEvidence read_process_end(std::string_view record);

// What a process died of that raised this: a name with its module, as Python has it, and the
// message.
struct ExceptionMeaning {
  EndClass what = EndClass::exception;
  EndWeight weight = EndWeight::exception;
};
ExceptionMeaning meaning_of_exception(std::string_view type, std::string_view message);

}  // namespace trainwatch
