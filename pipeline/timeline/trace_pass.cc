// SPDX-License-Identifier: Apache-2.0
#include "pipeline/timeline/trace_pass.h"

#include "pipeline/decode/formats/format_catalog.h"

namespace trainwatch {

TracePass::TracePass(const std::string& path, std::int32_t rank, TraceCopy* copy)
    : context_{FileId{}, LaneId{}, path, "", rank, interner_, *this, {}, this},
      decoder_(chrome_trace_format.make(context_)),
      copy_(copy),
      contents_(path, [this](std::string_view piece) {
        if (!is_trace()) return false;
        if (copy_ != nullptr) copy_->feed(piece);
        decoder_->feed(piece, events_);
        events_.clear();
        return true;
      }) {}

bool TracePass::is_trace() const {
  return &contents_.format() == &chrome_trace_format;
}

void TracePass::finish() {
  contents_.finish();
  if (!is_trace()) return;
  if (copy_ != nullptr) copy_->finish();
  decoder_->finish(events_);
  events_.clear();
}

}  // namespace trainwatch
