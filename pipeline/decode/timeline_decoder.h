// SageMaker's timelines: python, model, horovod, smdataparallel, open or closed, and raw Horovod.
// Every complete span is an event at once.
//
// State (phases by pid, open B events, start time) belongs to one file: each file repeats its own
// metadata, and pids mean different things in different files. A B/E pair that rotation cut in two
// is lost.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "pipeline/decode/decoder.h"
#include "pipeline/decode/json_text.h"
#include "pipeline/decode/record_splitter.h"
#include "pipeline/decode/span_kind.h"
#include "pipeline/decode/trace_event.h"

namespace trainwatch {

class TimelineDecoder final : public Decoder, private RecordSink {
 public:
  explicit TimelineDecoder(const FileContext& context) : context_(context) {}

  void feed(std::string_view bytes, EventBatch& out) override;
  void finish(EventBatch& out) override;
  void cut_back(std::size_t bytes) override { splitter_.cut_back(bytes); }
  bool complete() const override { return splitter_.closed(); }
  bool mid_record() const override { return splitter_.mid_record(); }
  void state(StateIo& io) override;
  std::uint64_t records() const override { return records_; }

 private:
  struct OpenSpan {
    Symbol name{};
    std::int64_t start_ns = 0;  // as written, without the file's start time
  };
  struct Phase {
    Symbol name{};
    bool paired = false;         // a B event was seen
    std::vector<OpenSpan> open;  // a stack

    void state(StateIo& io) {
      io(name);
      io(paired);
      io(open);
    }
  };

  void record(std::string_view text) override;
  void member(std::string_view, std::string_view) override {}
  void rejected(RejectReason reason, std::string_view sample) override;

  // Each answers why the event is no good, or nothing.
  using Refusal = std::optional<RejectReason>;
  Refusal apply(const TraceEvent& event);
  Refusal metadata(const TraceEvent& event);
  Refusal complete_span(const TraceEvent& event);
  Refusal begin_span(const TraceEvent& event);
  Refusal end_span(const TraceEvent& event);

  void emit(const TraceEvent& event, Symbol phase, Symbol name, std::int64_t start_ns,
            std::int64_t duration_ns);
  // What its arguments call the event, if they do.
  Symbol layer_of(const TraceEvent& event);
  // The phase of an event, made when it is new; null when the table is full.
  Phase* phase_of(const TraceEvent& event);
  void look_at_path();

  const FileContext& context_;
  RecordSplitter splitter_;
  StringReader strings_;
  SpanClassifier classifier_;
  EventBatch* out_ = nullptr;  // during feed() and finish()
  std::string path_;           // that subject_ was made from
  SubjectId subject_ = SubjectId::none;
  SpanKind fallback_ = SpanKind::other;
  std::map<std::int64_t, Phase> phases_;
  std::int64_t last_pid_ = 0;  // one look-up saved for most events
  Phase* last_phase_ = nullptr;
  std::int64_t start_time_ns_ = 0;
  std::uint64_t records_ = 0;
};

}  // namespace trainwatch
