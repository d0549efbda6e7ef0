// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/closed_alerts.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace trainwatch {
namespace {

constexpr std::string_view kRows = "closed/";

}  // namespace

void ClosedAlerts::add(Alert alert) {
  changed_.insert(next_number_);
  closed_.push_back({next_number_++, std::move(alert)});
  if (closed_.size() > kMost) {
    changed_.insert(closed_.front().number);
    closed_.pop_front();
  }
  if (next_number_ % kEvery == 0) forget_old();
}

void ClosedAlerts::forget_old() {
  std::map<std::string, Time> latest;  // by job
  for (const auto& [number, alert] : closed_) {
    Time& end = latest[alert.subject.job];
    end = std::max(end, alert.ended_at);
  }
  std::erase_if(closed_, [&](const Closed& closed) {
    const bool old = closed.alert.ended_at < latest[closed.alert.subject.job] - kKept;
    if (old) changed_.insert(closed.number);
    return old;
  });
}

void ClosedAlerts::save(StateRows& rows, bool all) {
  if (all) {
    for (const Closed& closed : closed_) changed_.insert(closed.number);
  }
  for (const std::uint64_t number : changed_) {
    const auto kept = std::ranges::lower_bound(closed_, number, {}, &Closed::number);
    if (kept == closed_.end() || kept->number != number) {
      rows.remove(numbered_row(kRows, number));
    } else {
      rows.put(numbered_row(kRows, number), [&kept](StateIo& io) { io(kept->alert); });
    }
  }
  changed_.clear();
}

bool ClosedAlerts::load(const SavedState& saved) {
  *this = {};
  return for_rows(saved, kRows, [&](std::string_view digits, std::string_view value) {
    const auto number = number_in<std::uint64_t>(digits);
    if (!number || *number < next_number_ || closed_.size() == kMost) return false;
    StateIo io = saved.open(value);
    Closed& closed = closed_.emplace_back();
    closed.number = *number;
    next_number_ = *number + 1;
    io(closed.alert);
    io.take_gone();  // a rank that it names
    return io.complete();
  });
}

}  // namespace trainwatch
