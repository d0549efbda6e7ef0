// SPDX-License-Identifier: Apache-2.0
#include "pipeline/timeline/span_totals.h"

#include <algorithm>
#include <vector>

namespace trainwatch {

void SpanTotals::event(const TimelineEvent& event) {
  if (event.type != 'X' || !window_.touches(event)) return;
  auto& [name, phase, rank] = key_;
  name = event.name;
  phase = tracks_[tracks_[event.track].process].name;
  rank = rank_;
  auto found = totals_.find(key_);
  if (found == totals_.end()) {
    if (totals_.size() >= kMostKept) {
      ++left_out_;
      return;
    }
    found = totals_.emplace(key_, Total{0, 0, event.start_ns}).first;
  }
  Total& total = found->second;
  ++total.count;
  const std::int64_t begin_ns = std::max(event.start_ns, window_.from_ns);
  total.inside_ns += std::min(event.end_ns(), window_.to_ns) - begin_ns;
  total.first_ns = std::min(total.first_ns, event.start_ns);
}

std::string SpanTotals::json() const {
  std::vector<const std::pair<const Key, Total>*> all;
  all.reserve(totals_.size());
  for (const auto& each : totals_) all.push_back(&each);
  const auto order = [](const auto* one) { return -one->second.inside_ns; };
  std::ranges::stable_sort(all, {}, order);
  const std::size_t shown = std::min(all.size(), kMostShown);
  JsonWriter json;
  json.begin_object().key("columns").begin_array();
  for (const char* column : {"name", "phase", "rank", "count", "total_us", "first_us"})
    json.value(column);
  json.end_array().key("rows").begin_array();
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& [name, phase, rank] = all[i]->first;
    const Total& total = all[i]->second;
    json.begin_array().raw(name).value(phase);
    rank == kNoRank ? json.null() : json.value(rank);
    json.value(total.count).value(total.inside_ns / 1000).value(total.first_ns / 1000).end_array();
  }
  json.end_array().field("left_out", left_out_ + (all.size() - shown)).end_object();
  return json.take();
}

}  // namespace trainwatch
