// Copies one trace into a document, record by record: each event as its bytes are, and the members
// around them. What other programs would refuse as JSON is left out and counted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "pipeline/decode/json_check.h"
#include "pipeline/decode/record_splitter.h"
#include "pipeline/timeline/event_mover.h"
#include "pipeline/timeline/trace_writer.h"

namespace trainwatch {

class TraceCopy final : private RecordSink {
 public:
  // The trace becomes the document: the root stays what it is, and so do all members.
  explicit TraceCopy(TraceWriter& writer) : writer_(writer) {}
  // The trace is one of several in a document that has begun. Members are kept apart.
  TraceCopy(TraceWriter& writer, EventMover& mover) : writer_(writer), mover_(&mover) {}

  // Contents, inflated, cut anywhere.
  void feed(std::string_view contents) { splitter_.feed(contents, *this); }
  // The input is over, complete or not.
  void finish();
  // One more event, which the trace itself does not have.
  void add(std::string_view event);

  std::uint64_t events() const { return events_; }
  std::uint64_t left_out() const { return left_out_; }
  // Of one of several traces: its members, as those of an object.
  const std::string& members() const { return members_; }

 private:
  void record(std::string_view text) override;
  void member(std::string_view key, std::string_view value) override;
  void rejected(RejectReason reason, std::string_view sample) override;
  void begin();
  bool keep_apart(std::string_view member);

  TraceWriter& writer_;
  EventMover* mover_ = nullptr;
  RecordSplitter splitter_;
  JsonCheck check_;
  std::string members_;
  std::string text_;  // reused
  bool begun_ = false;
  std::uint64_t events_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace trainwatch
