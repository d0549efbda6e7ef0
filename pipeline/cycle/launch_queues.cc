#include "pipeline/cycle/launch_queues.h"

#include <algorithm>

#include "pipeline/cycle/launches.h"

namespace trainwatch {
namespace {

std::ptrdiff_t before(const std::vector<std::int64_t>& times, std::int64_t time) {
  return std::ranges::lower_bound(times, time) - times.begin();
}
std::ptrdiff_t until(const std::vector<std::int64_t>& times, std::int64_t time) {
  return std::ranges::upper_bound(times, time) - times.begin();
}

}  // namespace

LaunchQueues::LaunchQueues(const CycleTrace& cycle) : cycle_(cycle), queued_(cycle.names.size()) {
  for (std::size_t i = 0; i < queued_.size(); ++i)
    queued_[i] = is_queued_launch(cycle.names.text(static_cast<NameId>(i)));
  for (const DeviceRow& row : cycle.device) {
    if (row.launch == kNoRow || row.kind == DeviceKind::sync) continue;
    const LaunchRow& launch = cycle.launches[row.launch];
    if (!queued_[static_cast<std::size_t>(launch.name)]) continue;
    if (streams_.empty() || streams_.back().stream != row.stream)
      streams_.push_back({row.stream, {}, {}});
    streams_.back().launched_ns.push_back(launch.start_ns);
    streams_.back().started_ns.push_back(row.start_ns);
  }
  for (Stream& stream : streams_) std::ranges::sort(stream.launched_ns);
}

bool LaunchQueues::was_empty(std::uint32_t row) const {
  const DeviceRow& work = cycle_.device[row];
  const LaunchRow& launch = cycle_.launches[work.launch];
  const auto stream = std::ranges::lower_bound(streams_, work.stream, {}, &Stream::stream);
  if (stream == streams_.end() || stream->stream != work.stream) return false;
  if (!queued_[static_cast<std::size_t>(launch.name)]) return false;
  const std::ptrdiff_t earlier = before(stream->launched_ns, launch.start_ns);
  return earlier == before(stream->started_ns, launch.start_ns) &&
         until(stream->launched_ns, work.start_ns) == until(stream->launched_ns, launch.start_ns) &&
         until(stream->started_ns, work.start_ns) == earlier + 1;
}

}  // namespace trainwatch
