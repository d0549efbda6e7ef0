// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/event_journal.h"

#include <algorithm>
#include <cassert>
#include <string>
#include <string_view>
#include <utility>

namespace trainwatch {
namespace {

constexpr std::string_view kJournalPrefix = "journal/";

}  // namespace

void EventJournal::save(StateRows& rows) {
  assert(!full());
  for (Row& row : unsaved_rows_) {
    rows.put(numbered_row(kJournalPrefix, rows_++), [&row](StateIo& io) {
      std::string encoded = row.encoded.take();
      io(row.events);
      io(encoded);
    });
  }
  saved_ += std::exchange(since_commit_, 0);
  unsaved_rows_.clear();
}

void EventJournal::clear(StateRows& rows, std::size_t state_bytes) {
  rows.remove_numbered(kJournalPrefix, rows_);
  unsaved_rows_.clear();
  saved_ = 0;
  rows_ = 0;
  most_ = std::clamp(state_bytes / kEventBytes, kFewestEvents, kMostEvents);
  if (std::exchange(since_commit_, 0) >= kMostUnsaved) fill();
}

bool EventJournal::load(const SavedState& saved, const std::function<void(const Event&)>& use) {
  const bool whole = for_rows(saved, kJournalPrefix, [&](std::string_view, std::string_view bytes) {
    ++rows_;
    fill();  // so that the events are not added again
    std::uint32_t count = 0;
    std::string encoded;
    StateIo row = saved.open(bytes);
    row(count);
    row(encoded);
    StateIo io = saved.open(encoded);
    codec_.begin_row();
    for (std::uint32_t i = 0; i < count && io.ok(); ++i) {
      if (const auto event = codec_.read(io)) use(*event);
    }
    return row.complete() && io.complete();
  });
  since_commit_ = 0;
  return whole;
}

}  // namespace trainwatch
