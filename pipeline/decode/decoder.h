// SPDX-License-Identifier: Apache-2.0
// One decoder reads one file of one format: bytes in, at any cut, events out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/decode/byte_account.h"
#include "trainwatch/cycle_trace.h"
#include "trainwatch/diagnostics.h"
#include "trainwatch/event.h"
#include "trainwatch/interner.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

class DumpSink;
class RunNaming;
class RunNoteSink;
class TensorSink;
class DeclaredFormats;
class LiteralSearches;

// Why a record was rejected; nullopt: it is good.
using Rejection = std::optional<RejectReason>;

// What a decoder needs to know about its file besides the bytes. References outlive the decoder.
struct FileContext {
  FileId file{};
  LaneId lane{};
  std::string path;             // as discovered; its parts hold node, rank and timestamps
  std::string job;              // configured job name, may be empty
  std::int32_t rank = kNoRank;  // as configured for this path; kNoRank: take it from file or path
  Interner& interner;
  Diagnostics& diagnostics;
  // The names in a directory: TensorFlow's start time is in the name of a `.metadata` file only.
  // Returns nothing if the directory cannot be read.
  std::function<std::vector<std::string>(const std::string& directory)> list_directory;
  CycleSink* cycles = nullptr;  // null: nobody takes cycles, so none are built
  // Where neither file nor path says them.
  std::string default_node{};
  std::int32_t default_rank = kNoRank;
  // When the file was last written to as these bytes were read: the time of records without one.
  Time written{};
  DumpSink* dumps = nullptr;      // null: nobody takes dumps of ranks
  TensorSink* tensors = nullptr;  // null: nobody takes tensors
  // A small file beside the one that is read, from the watched paths only: a trial says its
  // collections in one. nullopt: it cannot be read, or is longer than `most` bytes.
  std::function<std::optional<std::string>(const std::string& path, std::size_t most)> read_file{};
  RunNoteSink* run_notes = nullptr;           // null: nobody takes notes about runs
  const DeclaredFormats* declared = nullptr;  // null: the presets
  RunNaming* naming = nullptr;                // null: paths alone tell runs apart
  LiteralSearches* searches = nullptr;        // null: nothing is shared with other files

  // The job of the run that the file calls by this name; `job` where a name says nothing.
  std::string job_of(std::string_view run) const;
  void fill_in(Subject& subject) const {
    if (subject.node.empty()) subject.node = default_node;
    if (subject.rank == kNoRank) subject.rank = default_rank;
  }
};

// What an incomplete profiler document has shown so far. More steps may follow, earlier ones too,
// and more waits within these.
struct ProvisionalCycle {
  static constexpr std::size_t kShown = 16;

  std::vector<StepRow> steps;  // the first ones by start, in times as written
  std::uint64_t steps_seen = 0;
  std::uint64_t device_rows = 0;
};

class Decoder {
 public:
  virtual ~Decoder() = default;

  // The next bytes of the (inflated) file. Appends the events of every record that they complete to
  // `out` and keeps an incomplete tail. Never fails: bad records go to the diagnostics.
  virtual void feed(std::string_view bytes, EventBatch& out) = 0;

  // The file is complete: complete() is true behind all bytes there are, or no more are expected.
  // Emits what had to wait for that, such as a profiler cycle whose rank was unknown. If more bytes
  // arrive later, feed() continues with the state from before, including a truncated record.
  virtual void finish(EventBatch& out) = 0;

  // See FileDecoder::cut_back.
  virtual void cut_back(std::size_t bytes) = 0;

  // The file's own end mark (`]`, `}`) was read: nothing can follow.
  virtual bool complete() const = 0;

  // The bytes so far end in the middle of a record.
  virtual bool mid_record() const = 0;

  virtual void state(StateIo& io) = 0;
  // Bytes that contents make it hold and that are not in its state.
  virtual std::size_t unsaved_bytes() const { return 0; }

  // The decoder holds more than its state does, and a load has lost it: the file must be read from
  // its beginning again. None of it has been emitted.
  virtual bool needs_replay() const { return false; }

  // This decoder has loaded the state of `old`, of the same format: takes over what the state
  // leaves out.
  virtual void take_unsaved(Decoder& old) { static_cast<void>(old); }

  // nullopt: there is none, or it was emitted.
  virtual std::optional<ProvisionalCycle> provisional() const { return std::nullopt; }

  // How many records so far are such that later ones refer to them: they name a phase, or say from
  // when times count.
  virtual std::uint64_t definitions() const { return 0; }
  // A span has begun and not ended: the record of its end refers to that of its beginning.
  virtual bool has_open_span() const { return false; }

  // Of formats whose writers write a file anew as a whole, what was emitted so far, for rewritten()
  // of the decoder of the new content; empty: any other format.
  virtual std::string delivered() const { return {}; }
  // Call before feed(). What the new content repeats is not emitted again.
  virtual void rewritten(const std::string& delivered) { static_cast<void>(delivered); }

  // The declaration that reads the file (declared/); empty: none, or not known yet.
  virtual std::string_view declared() const { return {}; }

  // Good records so far.
  virtual std::uint64_t records() const = 0;

  // What became of the bytes so far. After finish() they are all there.
  virtual ByteAccount bytes() const = 0;
};

}  // namespace trainwatch
