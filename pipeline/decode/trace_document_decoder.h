// What the decoders of trace documents share: a document is cut into records, and each is read or
// rejected by itself.
#pragma once

#include "pipeline/decode/decoder.h"
#include "pipeline/decode/record_splitter.h"

namespace trainwatch {

class TraceDocumentDecoder : public Decoder, private RecordSink {
 public:
  void cut_back(std::size_t bytes) override { splitter_.cut_back(bytes); }
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
  void read_document(std::string_view bytes) { splitter_.feed(bytes, *this); }
  void finish_document() { splitter_.finish(*this); }
  // What comes does not belong to this document: it ended before.
  bool document_ended() const { return splitter_.ended(); }
  // Its end was read.
  bool document_closed() const { return splitter_.closed() || splitter_.ended(); }

  void document_state(StateIo& io) {
    splitter_.state(io);
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

  RecordSplitter splitter_;
  std::uint64_t records_ = 0;
};

}  // namespace trainwatch
