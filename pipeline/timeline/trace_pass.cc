#include "pipeline/timeline/trace_pass.h"

namespace trainwatch {

TracePass::TracePass(const std::string& path, std::int32_t rank, TraceCopy* copy)
    : context_{FileId{}, LaneId{}, path, "", rank, vocabulary_, *this, {}, this},
      decoder_(context_),
      copy_(copy),
      contents_(path, [this](std::string_view piece) {
        if (copy_ != nullptr) copy_->feed(piece);
        decoder_.feed(piece, events_);
        events_.clear();
      }) {}

void TracePass::finish() {
  contents_.finish();
  if (!is_trace()) return;
  if (copy_ != nullptr) copy_->finish();
  decoder_.finish(events_);
  events_.clear();
}

}  // namespace trainwatch
