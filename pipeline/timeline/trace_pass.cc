#include "pipeline/timeline/trace_pass.h"

#include <utility>

#include "pipeline/decode/formats/format_catalog.h"

namespace trainwatch {
namespace {

constexpr std::string_view kGzip = "\x1f\x8b";

}  // namespace

void TraceContents::feed(std::string_view bytes) {
  if (encoding_ == Encoding::undecided) {
    head_.append(bytes);
    if (head_.size() < kGzip.size()) return;
    encoding_ = head_.starts_with(kGzip) ? Encoding::gzip : Encoding::plain;
    if (encoding_ == Encoding::gzip) inflate_ = std::make_unique<InflateStream>();
    const std::string begun = std::exchange(head_, {});
    return feed(begun);
  }
  if (encoding_ == Encoding::plain) return contents(bytes);
  inflate_->push(bytes);
  for (auto piece = inflate_->pull(); !piece.empty(); piece = inflate_->pull()) contents(piece);
}

void TraceContents::contents(std::string_view piece) {
  if (kind_ == Kind::trace) return take_(piece);
  if (kind_ == Kind::other) return;
  head_.append(piece);
  decide(false);
}

void TraceContents::decide(bool all) {
  const FormatTable formats = format_catalog();
  const Format& format =
      all ? detect_whole_file(formats, head_, path_) : detect_format(formats, head_, path_);
  if (&format == &kUndecidedFormat) return;
  const std::string begun = std::exchange(head_, {});
  kind_ = &format == &chrome_trace_format ? Kind::trace : Kind::other;
  if (kind_ == Kind::trace) take_(begun);
}

void TraceContents::finish() {
  if (kind_ == Kind::undecided) decide(true);
}

TracePass::TracePass(const std::string& path, std::int32_t rank, TraceCopy* copy)
    : context_{FileId{}, LaneId{}, path, "", rank, interner_, *this, {}, this},
      decoder_(chrome_trace_format.make(context_)),
      copy_(copy),
      contents_(path, [this](std::string_view piece) {
        if (copy_ != nullptr) copy_->feed(piece);
        decoder_->feed(piece, events_);
        events_.clear();
      }) {}

void TracePass::finish() {
  contents_.finish();
  if (!is_trace()) return;
  if (copy_ != nullptr) copy_->finish();
  decoder_->finish(events_);
  events_.clear();
}

}  // namespace trainwatch
