// PyTorch profiler (Kineto) traces of every era: root object or array, one cycle in one file.
//
// Every event is looked at; those that somebody reads become spans: steps ("ProfilerStep#12") and
// waits for data ("enumerate(DataLoader)#…__next__"). Rank and time base may follow the events, so
// the spans of a cycle are held until the document is complete (or the input over) and then come
// out in the order of their ends, as a writer would tell them live: the waits of a step, then the
// step. SourceNote::cycle_complete follows.
//
// Where somebody takes cycles, a CycleTrace is built on the way and told right before the spans. It
// is no part of the state: it may be as large as the document.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "pipeline/decode/cycle_builder.h"
#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/decoder.h"
#include "pipeline/decode/json_text.h"
#include "pipeline/decode/record_splitter.h"
#include "pipeline/decode/step_marks.h"

namespace trainwatch {

class ChromeTraceDecoder final : public Decoder, private RecordSink {
 public:
  explicit ChromeTraceDecoder(const FileContext& context)
      : context_(context),
        host_rows_(context.cycles != nullptr && context.cycles->wants_host_rows()) {}

  void feed(std::string_view bytes, EventBatch& out) override;
  void finish(EventBatch& out) override;
  void cut_back(std::size_t bytes) override { splitter_.cut_back(bytes); }
  bool complete() const override { return splitter_.closed(); }
  bool mid_record() const override { return splitter_.mid_record(); }
  void state(StateIo& io) override;
  bool must_read_again() const override { return context_.cycles != nullptr && cycle_lost_; }
  void take_unsaved(Decoder& old) override;
  std::uint64_t records() const override { return records_; }
  std::optional<ProvisionalCycle> provisional() const override;

 private:
  // An event that somebody reads, as raw tokens.
  struct Tokens {
    std::string_view name, category, ts, dur, pid;
    EventCategory kind = EventCategory::other;
  };

  void record(std::string_view text) override;
  void member(std::string_view key, std::string_view value) override;
  void rejected(RejectReason reason, std::string_view sample) override;

  using Refusal = std::optional<RejectReason>;
  Refusal look_at(std::string_view text);
  Refusal hold(const Tokens& tokens, SpanKind kind, std::int64_t step);
  // nullopt: the event is good, and may be of use for a span too.
  Refusal add_to_cycle(EventCategory category, std::string_view text);
  void emit_cycle(EventBatch& out);
  void emit_spans(SubjectId subject, std::int64_t base_ns, EventBatch& out);
  void tell_cycle(SubjectId subject, std::int64_t base_ns);
  bool tells_activity(const Tokens& tokens) const;
  void host_active(const Tokens& tokens);
  Subject subject(const std::string& node, std::int32_t rank) const;
  std::int64_t time_base(std::optional<std::int64_t> file_end_ns) const;

  const FileContext& context_;
  const bool host_rows_;
  RecordSplitter splitter_;
  StringReader strings_;
  StepMarks marks_;
  std::optional<std::int64_t> base_ns_;
  std::optional<std::int64_t> rank_;
  std::int64_t world_size_ = 0;
  std::string host_;
  std::int64_t last_end_ns_ = 0;  // of all events without a category and all held ones, as written
  std::unique_ptr<CycleBuilder> cycle_;  // once there is something for it
  bool cycle_lost_ = false;              // its first part is, as the state was loaded
  bool emitted_ = false;
  std::uint64_t records_ = 0;
};

}  // namespace trainwatch
