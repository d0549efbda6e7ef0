// SPDX-License-Identifier: Apache-2.0
// What the files say of a run besides its steps and figures: when its processes began and ended,
// and what the job, its launcher or its scheduler says about its end.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "trainwatch/event.h"
#include "trainwatch/state_io.h"
#include "trainwatch/subject.h"
#include "trainwatch/time.h"

namespace trainwatch {

// How a run, or an attempt of it, ended.
enum class EndClass : std::uint8_t {
  unknown,  // nothing says how
  completed,
  cuda_out_of_memory,
  host_out_of_memory,
  time_limit,
  cancelled,
  preempted,
  node_failure,
  gpu_error,
  collective_timeout,
  worker_killed,  // of a data loader
  disk_full,
  exception,
  signal,
  count_,
};

inline std::string_view to_string(EndClass end) {
  constexpr std::string_view kNames[] = {
      "unknown",
      "completed",
      "cuda_out_of_memory",
      "host_out_of_memory",
      "time_limit",
      "cancelled",
      "preempted",
      "node_failure",
      "gpu_error",
      "collective_timeout",
      "worker_killed",
      "disk_full",
      "exception",
      "signal",
  };
  static_assert(std::size(kNames) == static_cast<std::size_t>(EndClass::count_));
  return kNames[static_cast<std::size_t>(end)];
}

// How much a piece of evidence explains. Of several, the first of the strongest kind counts:
// a rank that dies of a broken peer is not the cause.
enum class EndWeight : std::uint8_t {
  consequence,  // of another failure: a broken connection, a launcher that gives up
  ended,        // only that it ended: an exit code, a signal
  exception,    // what was raised
  cause,        // a cause by name: out of memory, a time limit, an Xid
  root,         // a launcher names it the root cause
  count_,
};

// One piece of evidence about an end. A later one with the same text of the same file replaces it:
// its time or its rank is known better now.
struct EndEvidence {
  static constexpr std::size_t kMostText = 256;  // bytes

  EndClass what = EndClass::unknown;
  EndWeight weight = EndWeight::ended;
  std::int32_t rank = kNoRank;           // that failed, as the whole job counts
  std::string node{};                    // empty: not said
  std::optional<std::int32_t> signal{};  // by number
  std::optional<std::int32_t> exit_code{};
  std::string text{};       // the line, at most kMostText bytes of valid text
  std::string file{};       // that has it
  bool of_machine = false;  // the kernel's word: without other evidence it shows no run

  void state(StateIo& io) {
    io(what);
    io(weight);
    io(rank);
    io(node);
    io(signal);
    io(exit_code);
    io(text);
    io(file);
    io(of_machine);
    if (what >= EndClass::count_ || weight >= EndWeight::count_) io.fail();
    if (text.size() > kMostText) io.fail();
  }
};

// A critical error of a GPU as NVIDIA's driver numbers them.
struct XidReport {
  std::int64_t number = 0;
  std::int64_t process = kNoProcess;  // the id of the one that it hit
  std::string text{};                 // the line, at most EndEvidence::kMostText bytes
};

struct RunNote {
  enum class Kind : std::uint8_t {
    process_began,  // a process of a rank (the subject), at its first evidence; a file that a
                    // process begins may say it again with the same time
    process_ended,  // for good, of a rank; how: `end`
    step_begun,     // a rank has begun the step `step`: after a hang, the file shows which one
    launched,       // a line that a job or its launcher prints when it starts
    saw,            // it lived at this time, nothing else
    restored,       // it has read a checkpoint for `seconds`
    checkpoint,     // training waited for one; `seconds` < 0: for as long as the gap is
    evaluation,     // the same
    end_evidence,   // `end` says something about the end of the run
    completed,      // it says that it has done what it was to do
    gpu_report,     // the driver reports an error of a GPU, the subject: `xid`
    count_,
  };

  Time at{};
  Kind kind = Kind::saw;
  SubjectId subject = SubjectId::none;  // the job, and the rank where it is known
  double seconds = -1;
  std::int64_t step = kNoStep;
  std::uint32_t world_size = 0;  // ranks of the whole job; 0: not said
  std::optional<EndEvidence> end{};
  std::optional<XidReport> xid{};
};

// Takes what decoders read. Called on the decoding thread.
class RunNoteSink {
 public:
  virtual ~RunNoteSink() = default;
  // Returns the event that stands for the note among the others of the file: append it to them.
  virtual SourceNote add(RunNote note) = 0;
};

}  // namespace trainwatch
