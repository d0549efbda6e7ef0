// SPDX-License-Identifier: Apache-2.0
// Copies a trace into a document, record by record and byte for byte. What other programs would
// refuse as JSON is left out and counted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "pipeline/decode/json_cursor.h"
#include "pipeline/decode/record_splitter.h"
#include "pipeline/timeline/event_mover.h"

namespace trainwatch {

// Receives text as it is produced, so that no document is ever complete in memory.
class TextSink {
 public:
  virtual ~TextSink() = default;
  // The text is valid during the call only.
  virtual void write(std::string_view text) = 0;
};

// Writes one document of Chrome's trace format: an array of events, or an object with that array
// and other members around it. Members that arrive after the first event are kept, up to a bound,
// and written after the array.
class TraceWriter {
 public:
  enum class Root : std::uint8_t { object, array };
  static constexpr std::size_t kMostLateBytes = std::size_t{8} << 20U;

  explicit TraceWriter(TextSink& out) : out_(out) {}

  // Call first.
  void begin(Root root);
  // `text` is `"key":value`. False if it was left out: the root is an array, or the bound is
  // reached.
  bool member(std::string_view text);
  // One whole event.
  void event(std::string_view text);
  // The document is complete.
  void finish();

 private:
  void open_events();

  TextSink& out_;
  Root root_ = Root::object;
  bool in_events_ = false;
  bool first_ = true;  // no comma is needed yet
  std::string late_;   // members to write after the events, each after a comma
};

// One trace on its way into a document.
class TraceCopy final : private RecordSink {
 public:
  // The trace becomes the document, with its root and all its members.
  explicit TraceCopy(TraceWriter& writer) : writer_(writer) {}
  // The trace is one of several in a document that has begun. Its members are kept in members().
  TraceCopy(TraceWriter& writer, EventMover& mover) : writer_(writer), mover_(&mover) {}

  // Inflated contents, cut anywhere.
  void feed(std::string_view contents) { splitter_.feed(contents, *this); }
  // The input has ended, complete or not.
  void finish();
  // Adds an event that the trace itself does not have.
  void add(std::string_view event);

  std::uint64_t events() const { return events_; }
  std::uint64_t left_out() const { return left_out_; }
  // The members of one of several traces, as the inside of an object.
  const std::string& members() const { return members_; }

 private:
  Rejection record(std::string_view text) override;
  void member(std::string_view key, std::string_view value) override;
  void rejected(RejectReason reason, std::string_view sample) override;
  void begin();
  bool keep_apart(std::string_view member);

  TraceWriter& writer_;
  EventMover* mover_ = nullptr;
  RecordSplitter splitter_;
  JsonValidator check_;
  std::string members_;
  std::string text_;  // reused
  bool begun_ = false;
  std::uint64_t events_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace trainwatch
