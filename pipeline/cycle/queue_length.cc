#include "pipeline/cycle/queue_length.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "pipeline/cycle/launches.h"

namespace trainwatch {
namespace {

std::vector<bool> queued_names(const NameTable& names) {
  std::vector<bool> queued(names.size());
  for (std::size_t i = 0; i < queued.size(); ++i)
    queued[i] = is_queued_launch(names.text(static_cast<NameId>(i)));
  return queued;
}

std::size_t rows_of_stream(const CycleTrace& cycle, DeviceRows rows, std::int32_t stream) {
  const auto stream_of = [&](std::uint32_t index) { return cycle.device[index].stream; };
  return std::ranges::equal_range(rows, stream, {}, stream_of).size();
}

// From steps up and down to lengths.
void accumulate(StreamQueue& queue) {
  std::sort(queue.changes.begin(), queue.changes.end(),
            [](const QueueChange& a, const QueueChange& b) {
              return std::tuple(a.at_ns, -a.length) < std::tuple(b.at_ns, -b.length);
            });
  std::int64_t length = 0;
  for (QueueChange& change : queue.changes) change.length = length += change.length;
}

}  // namespace

std::vector<StreamQueue> queue_length(const CycleTrace& cycle, DeviceRows rows) {
  const std::vector<bool> queued = queued_names(cycle.names);
  std::vector<StreamQueue> found;
  for (const std::uint32_t index : rows) {
    const DeviceRow& row = cycle.device[index];
    if (row.launch == kNoRow || row.kind == DeviceKind::sync) continue;
    const LaunchRow& launch = cycle.launches[row.launch];
    if (!queued[static_cast<std::size_t>(launch.name)]) continue;
    if (found.empty() || found.back().stream != row.stream) {
      found.push_back({row.stream, {}});
      found.back().changes.reserve(2 * rows_of_stream(cycle, rows, row.stream));
    }
    found.back().changes.push_back({launch.start_ns, 1});
    found.back().changes.push_back({row.start_ns, -1});
  }
  for (StreamQueue& queue : found) accumulate(queue);
  return found;
}

QueueSummary summarize(const StreamQueue& queue) {
  QueueSummary found;
  std::map<std::int64_t, std::uint64_t> lengths;  // far fewer than changes
  double area = 0;
  for (std::size_t i = 0; i < queue.changes.size(); ++i) {
    const QueueChange& change = queue.changes[i];
    ++lengths[change.length];
    if (i + 1 == queue.changes.size()) break;
    const std::int64_t held_ns = queue.changes[i + 1].at_ns - change.at_ns;
    area += static_cast<double>(change.length) * static_cast<double>(held_ns);
    found.duration_ns += held_ns;
    if (change.length >= kFullQueue) found.full_ns += held_ns;
  }
  found.lengths = describe(lengths);
  found.mean_over_time = found.duration_ns == 0 ? std::numeric_limits<double>::quiet_NaN()
                                                : area / static_cast<double>(found.duration_ns);
  return found;
}

}  // namespace trainwatch
