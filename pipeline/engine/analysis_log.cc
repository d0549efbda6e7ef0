#include "pipeline/engine/analysis_log.h"

#include <cassert>
#include <string>

#include "pipeline/engine/event_state.h"

namespace trainwatch {
namespace {

constexpr std::string_view kPrefix = "analysis-log/";

// As many digits for each, so that the rows are stored in their order.
std::string key_of(std::uint32_t row) {
  const std::string number = std::to_string(row);
  return std::string(kPrefix).append(10 - number.size(), '0').append(number);
}

}  // namespace

void AnalysisLog::save(StateRows& rows) {
  assert(!full());
  if (unsaved_.empty()) return;
  rows.put(key_of(rows_++), [this](StateIo& io) {
    auto count = static_cast<std::uint32_t>(unsaved_.size());
    io(count);
    for (Event& event : unsaved_) event_state(io, event, vocabulary_);
  });
  saved_ += unsaved_.size();
  unsaved_.clear();
}

void AnalysisLog::clear(StateRows& rows) {
  for (std::uint32_t row = 0; row < rows_; ++row) rows.remove(key_of(row));
  unsaved_.clear();
  saved_ = 0;
  rows_ = 0;
}

bool AnalysisLog::load(const StoredRows& rows, std::vector<Event>& events) {
  return for_rows(rows, kPrefix, [&](std::string_view, std::string_view bytes) {
    ++rows_;
    StateIo io = StateIo::loading(bytes);
    std::uint32_t count = 0;
    io(count);
    for (std::uint32_t i = 0; i < count && io.ok(); ++i) {
      Event event;
      event_state(io, event, vocabulary_);
      if (io.ok()) events.push_back(event);
    }
    fill();
    return io.complete();
  });
}

}  // namespace trainwatch
