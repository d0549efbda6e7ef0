// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/ends/open_tracebacks.h"

#include <algorithm>

#include "pipeline/decode/declared/scalar_text.h"
#include "pipeline/decode/ends/end_line.h"

namespace trainwatch {

bool OpenTracebacks::begins(std::string_view message) {
  return find_text(message, "Traceback (most recent call last)") != std::string_view::npos;
}

void OpenTracebacks::begin(std::int32_t rank, bool harmless) {
  std::erase_if(open_, [rank](const Traceback& each) { return each.rank == rank; });
  if (open_.size() == kMost) open_.erase(open_.begin());
  open_.push_back({.rank = rank, .harmless = harmless});
}

// Other threads may print between its lines: they do not look like exceptions, or do not come right
// behind a frame.
OpenTracebacks::Line OpenTracebacks::add(std::int32_t rank, std::string_view message) {
  std::erase_if(open_, [](Traceback& each) { return ++each.lines > kMostLines; });
  const auto own = std::ranges::find(open_, rank, &Traceback::rank);
  if (own == open_.end()) return Line::other;
  const bool indented = message.empty() || message.front() == ' ' || message.front() == '\t';
  const bool behind_frame = own->in_frame;
  own->in_frame = indented;
  if (indented) return Line::frame;
  if (!is_exception_line(message, !behind_frame)) return Line::other;
  const bool harmless = own->harmless;
  open_.erase(own);
  return harmless ? Line::harmless : Line::exception;
}

void OpenTracebacks::state(StateIo& io) {
  io(open_);
  if (open_.size() > kMost) io.fail();
}

}  // namespace trainwatch
