// SPDX-License-Identifier: Apache-2.0
// What the decoders of trace documents share: a document is cut into records, and each is read or
// rejected by itself.
#pragma once

#include <memory>
#include <utility>

#include "pipeline/decode/decoder.h"
#include "pipeline/decode/record_splitter.h"

namespace trainwatch {

class TraceDocumentDecoder : public Decoder, private RecordSink {
 public:
  void cut_back(std::size_t bytes) override {
    go_on();
    splitter_.cut_back(bytes);
  }
  bool complete() const override { return splitter_.closed(); }
  bool mid_record() const override { return splitter_.mid_record(); }
  std::uint64_t records() const override { return records_; }
  ByteAccount bytes() const override { return splitter_.bytes(); }

 protected:
  explicit TraceDocumentDecoder(const FileContext& context) : context_(context) {}

  // One complete object of the array of events.
  virtual Rejection read_event(std::string_view text) = 0;
  // A member of the root object other than the events, as raw text.
  virtual void read_member(std::string_view, std::string_view) {}

  // Both call the two above.
  void read_document(std::string_view bytes) {
    go_on();
    splitter_.feed(bytes, *this);
  }
  void finish_document() {
    const std::uint64_t records = records_;
    const bool first = before_end_ == nullptr && !splitter_.closed();
    if (first) before_end_ = std::make_unique<RecordSplitter>(splitter_);
    splitter_.finish(*this);
    if (records_ != records) before_end_.reset();  // nothing is read twice
  }
  // What comes does not belong to this document: it ended before.
  bool document_ended() const { return splitter_.ended(); }
  // Its end was read.
  bool document_closed() const { return splitter_.closed() || splitter_.ended(); }

  void document_state(StateIo& io) {
    io(before_end_ != nullptr ? *before_end_ : splitter_);
    io(records_);
  }

  const FileContext& context_;

 private:
  Rejection record(std::string_view text) final {
    const Rejection reason = read_event(text);
    if (!reason) ++records_;
    return reason;
  }
  void member(std::string_view key, std::string_view value) final { read_member(key, value); }
  void rejected(RejectReason reason, std::string_view sample) final {
    context_.diagnostics.reject(context_.file, reason, sample);
  }

  // Continues with a record that the end of the document truncated.
  void go_on() {
    if (before_end_ != nullptr) splitter_ = std::move(*std::exchange(before_end_, nullptr));
  }

  RecordSplitter splitter_;
  std::unique_ptr<RecordSplitter> before_end_;  // until more comes; null: the end changed nothing
  std::uint64_t records_ = 0;
};

}  // namespace trainwatch
