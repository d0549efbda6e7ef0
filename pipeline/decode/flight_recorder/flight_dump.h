// SPDX-License-Identifier: Apache-2.0
// What one rank's Flight Recorder says: the process groups it belongs to, how far each has come,
// and the operations it remembers. Format versions 2.0 to 2.10, as a pickle or as JSON.
//
// Source: torch/csrc/distributed/c10d/FlightRecorderDetail.hpp. A dump has neither rank nor time in
// it: the rank is in the file's name, the time is that of the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/decode/flight_recorder/rank_list.h"
#include "pipeline/decode/flight_recorder/watchdog_line.h"
#include "trainwatch/state_io.h"
#include "trainwatch/subject.h"
#include "trainwatch/time.h"

namespace trainwatch {

// One operation as a rank has recorded it.
struct FlightOperation {
  std::int64_t record = 0;    // counts the operations of this rank
  std::int64_t sequence = 0;  // of the collective in its group: the same on all ranks
  std::int64_t p2p_sequence = 0;
  std::string name;  // "all_reduce", without the backend: "nccl:"
  bool p2p = false;
  bool completed = false;
  bool retired = false;  // the watchdog no longer waits for it
  Time created = kNoTime;
  std::int64_t timeout_ms = 0;                    // 0: not known
  std::vector<std::vector<std::int64_t>> inputs;  // shapes
  std::vector<std::vector<std::int64_t>> outputs;
  std::vector<std::string> input_types;
  std::vector<std::string> output_types;
  std::vector<std::string> frames;  // the innermost first: "forward (model.py:12)"

  void state(StateIo& io);
};

// How far a rank has come in a group; -1: nothing yet.
struct FlightProgress {
  std::int64_t enqueued = -1;
  std::int64_t completed = -1;
};

// One process group of the rank.
struct FlightGroup {
  std::string name;
  std::string description;  // "TENSOR_MODEL_PARALLEL_GROUP"
  RankList ranks;
  std::optional<FlightProgress> progress;   // as the status says
  std::vector<FlightOperation> operations;  // in the order of their records
  // If some of them are not kept: the highest number of a collective among all.
  std::optional<std::int64_t> last_sequence{};
};

struct RankDump {
  std::int32_t rank = kNoRank;
  Time written{};
  std::string version;
  std::vector<FlightGroup> groups;
  std::size_t entries = 0;         // operations in the file, where some of them are not kept
  bool copied = false;             // the file is newer than the dump: see time_of_dump()
  bool has_first_pending = false;  // it is known that no older call is pending

  void state(StateIo& io);
};

struct FlightDumpResult {
  enum class End : std::uint8_t { whole, incomplete, damaged };
  End end = End::incomplete;
  std::size_t bytes = 0;  // of a whole dump: the offset behind it
  std::string error;
  RankDump dump;  // of a whole one; without rank and time
};

// What follows a whole dump is for the caller to judge.
FlightDumpResult read_flight_dump(std::string_view bytes);

// When the dump was made: when its file was written, unless that is an hour or more after the
// latest call in it has timed out. Then the file is a copy, and the dump was made at that timeout.
Time time_of_dump(const RankDump& dump, Time file_written);

// The trailing digits of a file's name, before ".json" and ".gz": "_dump_12". nullopt: it has none.
std::optional<std::int32_t> rank_of_dump(std::string_view path);

// The beginning of a pickled dump, as far as it is there.
bool begins_flight_dump(std::string_view head);

// Takes each complete dump of a rank, and each line of NCCL's watchdog. Called on the decoding
// thread.
class DumpSink {
 public:
  virtual ~DumpSink() = default;
  virtual void dump(const std::string& job, RankDump dump) = 0;
  // Of a known rank and time.
  virtual void watchdog(const std::string& job, WatchdogLine line) = 0;
};

}  // namespace trainwatch
