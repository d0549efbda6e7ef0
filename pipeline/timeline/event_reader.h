// SPDX-License-Identifier: Apache-2.0
// Turns the contents of one file into events of a merged timeline. What a viewer would refuse as
// JSON, and what has no readable time, is left out and counted.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/decode/json_cursor.h"
#include "pipeline/decode/record_splitter.h"
#include "pipeline/timeline/event_tokens.h"
#include "pipeline/timeline/timeline_event.h"

namespace trainwatch {

class EventReader {
 public:
  virtual ~EventReader() = default;
  // Inflated contents, cut anywhere.
  virtual void feed(std::string_view contents) = 0;
  // The file has ended, complete or not.
  virtual void finish() = 0;
  virtual std::uint64_t left_out() const = 0;
};

// A pair of B and E becomes one event, with the arguments of E. Pairs are matched per key.
class SpanPairs {
 public:
  static constexpr std::size_t kMostOpen = 1024;  // per key
  static constexpr std::size_t kMostKeys = 65536;

  struct Begun {
    std::string name;
    std::int64_t start_ns = 0;
  };

  // False: there is no room.
  bool begin(std::uint64_t key, std::string_view name, std::int64_t start_ns);
  // False: nothing was begun.
  bool end(std::uint64_t key, Begun& begun);

 private:
  std::map<std::uint64_t, std::vector<Begun>> open_;
};

// What the readers of trace documents share.
class TraceEventsReader : public EventReader, private RecordSink {
 public:
  void feed(std::string_view contents) override { splitter_.feed(contents, *this); }
  void finish() override { splitter_.finish(*this); }
  std::uint64_t left_out() const override { return left_out_; }

 protected:
  TraceEventsReader(TrackTable& tracks, TimelineSink& sink, TimeWindow window)
      : tracks_(tracks), sink_(sink), window_(window) {}

  virtual Rejection read(std::string_view text, const EventTokens& tokens) = 0;
  // Sets all of `event` but its track. Pairs of B and E are matched per `key`; at a B there is no
  // event yet, and its type is '\0'.
  Rejection make_event(std::string_view text, const EventTokens& tokens, std::int64_t base_ns,
                       std::uint64_t key, TimelineEvent& event);
  // Passes it on if it touches the window. `text` is the event as written; `id` replaces its id.
  Rejection pass(TimelineEvent event, std::string_view text, std::string_view id);
  // The text of a JSON string; empty if it is none.
  std::string_view text_of(std::string_view token);

  TrackTable& tracks_;

 private:
  Rejection record(std::string_view text) final;
  void member(std::string_view, std::string_view) final {}
  void rejected(RejectReason, std::string_view) final { ++left_out_; }

  TimelineSink& sink_;
  TimeWindow window_;
  RecordSplitter splitter_;
  JsonValidator check_;
  StringReader strings_;
  SpanPairs pairs_;
  SpanPairs::Begun begun_;  // the name of the last event, if that was a pair
  std::string rest_;        // reused
  std::uint64_t left_out_ = 0;
};

// Timelines of SageMaker (python, model, Horovod, smdataparallel) and traces of TensorFlow, as
// SageMaker's TraceEventParser reads them: a pid is a phase, and metadata says which.
class PhaseReader final : public TraceEventsReader {
 public:
  // `writer` names the threads. Times count from `start_ns` until the file says otherwise. `step`,
  // if there is one, receives every event with a step number.
  using TakeStep = std::function<void(std::int64_t step, std::int64_t start_ns)>;
  PhaseReader(TrackTable& tracks, TimelineSink& sink, TimeWindow window, std::string writer,
              std::int64_t start_ns, TakeStep step)
      : TraceEventsReader(tracks, sink, window),
        writer_(std::move(writer)),
        base_ns_(start_ns),
        step_(std::move(step)) {}

 private:
  struct Phase {
    ProcessId process{};
    std::uint64_t key = 0;
    std::map<std::string, TrackId, std::less<>> threads;  // by tid
  };

  Rejection read(std::string_view text, const EventTokens& tokens) override;
  Rejection metadata(const EventTokens& tokens);
  Phase* phase_of(std::string_view pid);
  TrackId thread_of(Phase& phase, std::string_view tid);

  std::string writer_;
  std::int64_t base_ns_;
  TakeStep step_;
  std::map<std::string, Phase, std::less<>> phases_;  // by pid
};

// Traces of PyTorch's profiler, and of other programs in the same format: every event is kept, with
// all its members.
class ProfilerReader final : public TraceEventsReader {
 public:
  // The trace with this number is one of `group`; times count from `base_ns`.
  ProfilerReader(TrackTable& tracks, TimelineSink& sink, TimeWindow window, std::size_t group,
                 std::size_t trace, std::int64_t base_ns)
      : TraceEventsReader(tracks, sink, window), group_(group), trace_(trace), base_ns_(base_ns) {}

 private:
  Rejection read(std::string_view text, const EventTokens& tokens) override;
  void metadata(const EventTokens& tokens);
  TrackId track_of(const EventTokens& tokens);

  std::size_t group_;
  std::size_t trace_;
  std::int64_t base_ns_;
  std::string last_pid_;  // of track_
  std::string last_tid_;
  TrackId track_{};
};

}  // namespace trainwatch
