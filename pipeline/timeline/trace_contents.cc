#include "pipeline/timeline/trace_contents.h"

#include <utility>

#include "pipeline/decode/recogniser.h"

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
  const Format format = all ? recognise_all(head_, path_) : recognise(head_, path_);
  if (format == Format::undecided) return;
  const std::string begun = std::exchange(head_, {});
  kind_ = format == Format::chrome_trace ? Kind::trace : Kind::other;
  if (kind_ == Kind::trace) take_(begun);
}

void TraceContents::finish() {
  if (kind_ == Kind::undecided) decide(true);
}

}  // namespace trainwatch
