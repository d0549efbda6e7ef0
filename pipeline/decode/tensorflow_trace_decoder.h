// TensorFlow profiler traces (…trace.json.gz). Every complete span is an event.
//
// Times count from a start that only the name of a `.metadata` file four directories up tells. When
// it is not there yet, the spans wait for the end of the file and it is looked for again; when it
// is not there then either, the start is 0, as SageMaker's own reader has it.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "pipeline/decode/decoder.h"
#include "pipeline/decode/json_text.h"
#include "pipeline/decode/record_splitter.h"
#include "pipeline/decode/span_kind.h"

namespace trainwatch {

class TensorflowTraceDecoder final : public Decoder, private RecordSink {
 public:
  explicit TensorflowTraceDecoder(const FileContext& context) : context_(context) {}

  void feed(std::string_view bytes, EventBatch& out) override;
  void finish(EventBatch& out) override;
  void cut_back(std::size_t bytes) override { splitter_.cut_back(bytes); }
  bool complete() const override { return splitter_.closed(); }
  bool mid_record() const override { return splitter_.mid_record(); }
  void state(StateIo& io) override;
  std::uint64_t records() const override { return records_; }

 private:
  void record(std::string_view text) override;
  void member(std::string_view, std::string_view) override {}
  void rejected(RejectReason reason, std::string_view sample) override;

  using Refusal = std::optional<RejectReason>;
  Refusal apply(std::string_view text);
  std::optional<std::int64_t> find_start() const;
  void release(EventBatch& out);
  void end_of_document(EventBatch& out);

  const FileContext& context_;
  RecordSplitter splitter_;
  StringReader strings_;
  SpanClassifier classifier_;
  SubjectId subject_ = SubjectId::none;
  std::map<std::int64_t, Symbol> processes_;
  std::optional<std::int64_t> start_ns_;
  std::vector<Span> waiting_;  // with times as written
  bool looked_ = false;        // for the start time
  bool ended_ = false;
  std::int64_t last_end_ns_ = 0;  // as written
  std::uint64_t records_ = 0;
};

}  // namespace trainwatch
