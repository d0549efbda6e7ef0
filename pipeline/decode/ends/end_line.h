// SPDX-License-Identifier: Apache-2.0
// One line of a job, its launcher, its scheduler or the kernel -> what it says about how the run
// began, paused or ended. A table of kinds; lines that belong together are failure_table and
// open_tracebacks.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "trainwatch/run_note.h"
#include "trainwatch/subject.h"

namespace trainwatch {

struct EndLine {
  RunNote::Kind kind = RunNote::Kind::end_evidence;
  EndClass what = EndClass::unknown;  // of end_evidence, as are the next ones
  EndWeight weight = EndWeight::ended;
  std::int32_t rank = kNoRank;  // as the message has it
  std::string_view node{};
  std::optional<std::int32_t> signal{};
  std::optional<std::int32_t> exit_code{};
  bool of_machine = false;       // the kernel says it
  double seconds = -1;           // of restored, checkpoint, evaluation
  bool begins = false;           // a checkpoint is about to be written
  bool ends = false;             // it has been written
  std::uint32_t world_size = 0;  // of launched
};

// One of these is in each line that says something about an end or a beginning.
std::span<const std::string_view> end_literals();
// True: read_end_line() may know the line.
bool has_end_literal(std::string_view line);

// `message`: without the prefix (line_prefix.h), to which what is returned refers. nullopt: none of
// ours.
std::optional<EndLine> read_end_line(std::string_view message);

// "torch.OutOfMemoryError: CUDA out of memory": a name of Python at the beginning, and a colon or
// nothing more behind. `strict`: the name must be one that exceptions have.
bool is_exception_line(std::string_view message, bool strict);

// What Python prints of an exception that ends nothing: in a destructor, at exit, in a logger, in a
// thread. Its traceback follows.
bool begins_harmless_failure(std::string_view line);

// A process that ended with this code, negative or above 128 for a signal.
void set_exit_code(EndLine& line, std::int64_t code);

}  // namespace trainwatch
