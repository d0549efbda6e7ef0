// One decoder reads one file of one format: bytes in, at any cut, events out.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainwatch/cycle_trace.h"
#include "trainwatch/diagnostics.h"
#include "trainwatch/event.h"
#include "trainwatch/state_io.h"
#include "trainwatch/vocabulary.h"

namespace trainwatch {

enum class Format : std::uint8_t {
  undecided,         // too few bytes yet
  unknown,           // none of ours; rejected once, the rest of the file is skipped
  empty,             // a file type we know and have nothing to read from (end-of-job marks)
  system_metrics,    // SageMaker system metrics, one JSON object a line
  timeline,          // SageMaker timelines: python, model, horovod, smdataparallel
  chrome_trace,      // Kineto / PyTorch profiler
  tensorflow_trace,  // TensorFlow profiler
};
inline constexpr Format kLastFormat = Format::tensorflow_trace;

std::string_view to_string(Format format);

// What a decoder needs to know of its file besides the bytes. All references outlive the decoder.
struct FileContext {
  FileId file{};
  LaneId lane{};
  std::string path;             // as discovered; its parts carry node, rank and stamps
  std::string job;              // configured job name, may be empty
  std::int32_t rank = kNoRank;  // configured for this path; kNoRank: from file or path
  Vocabulary& vocabulary;
  Diagnostics& diagnostics;
  // Names of the entries of a directory, for the TensorFlow start time that only a sibling
  // `.metadata` file name tells. Empty when the directory cannot be read.
  std::function<std::vector<std::string>(const std::string& directory)> list_directory;
  CycleSink* cycles = nullptr;  // null: nobody takes cycles, and none are built
};

// What a profiler's document that is not complete says so far: more steps, earlier ones too, and
// more waits within these may follow.
struct ProvisionalCycle {
  static constexpr std::size_t kShown = 16;

  std::vector<StepRow> steps;  // the first ones by start, in times as written
  std::uint64_t steps_seen = 0;
  std::uint64_t device_rows = 0;
};

class Decoder {
 public:
  virtual ~Decoder() = default;

  // The next bytes of the (inflated) file. Appends the events of every record that is now complete
  // to `out`; keeps an incomplete tail. Never fails: bad records go to the diagnostics.
  virtual void feed(std::string_view bytes, EventBatch& out) = 0;

  // The file has reached its end: its writer closed it, or the input is over. What could not be
  // said before (a profiler cycle whose rank was unknown) is said now. Called at most once.
  virtual void finish(EventBatch& out) = 0;

  // See FileDecoder::cut_back.
  virtual void cut_back(std::size_t bytes) = 0;

  // True when the file's own end mark was read (`]`, `}`): nothing more can follow.
  virtual bool complete() const = 0;

  // True when the bytes so far end in the middle of a record.
  virtual bool mid_record() const = 0;

  virtual void state(StateIo& io) = 0;

  // What it holds is more than its state has, and after a load it is gone: the file has to be read
  // from its beginning again. Nothing of it was told yet.
  virtual bool must_read_again() const { return false; }

  // Goes on from `old`, of the same format, whose state was loaded: takes over what that leaves
  // out.
  virtual void take_unsaved(Decoder& old) { static_cast<void>(old); }

  // nullopt: it has none, or they were told.
  virtual std::optional<ProvisionalCycle> provisional() const { return std::nullopt; }

  // Records read so far, good ones only.
  virtual std::uint64_t records() const = 0;
};

}  // namespace trainwatch
