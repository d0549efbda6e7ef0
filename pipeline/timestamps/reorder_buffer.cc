#include "pipeline/timestamps/reorder_buffer.h"

#include <algorithm>
#include <tuple>

#include "pipeline/timestamps/event_time.h"

namespace trainwatch {

ReorderBuffer::ReorderBuffer(const TimestampFilterOptions& options)
    : longest_hold_(options.lateness), hold_(std::min(options.min_hold, options.lateness)) {}

bool ReorderBuffer::comes_later(const Waiting& a, const Waiting& b) {
  return std::tie(a.sample.at, a.arrival) > std::tie(b.sample.at, b.arrival);
}

void ReorderBuffer::add(const Sample& sample, Time newest, EventBatch& out) {
  hold_ = std::max(hold_, std::min(newest - sample.at, longest_hold_));
  if (idle()) {
    out.push_back(sample);
    return;
  }
  waiting_.push_back({sample, arrivals_++});
  std::push_heap(waiting_.begin(), waiting_.end(), comes_later);
  while (!waiting_.empty() &&
         (waiting_.front().sample.at <= newest - hold_ || waiting_.size() > kMaxWaiting)) {
    release_oldest(out);
  }
}

void ReorderBuffer::release_oldest(EventBatch& out) {
  std::pop_heap(waiting_.begin(), waiting_.end(), comes_later);
  out.push_back(waiting_.back().sample);
  waiting_.pop_back();
}

void ReorderBuffer::release_all(EventBatch& out) {
  while (!waiting_.empty()) release_oldest(out);
}

void ReorderBuffer::state(StateIo& io) {
  Nanos hold = hold_;
  io(hold);
  io(arrivals_);
  auto count = static_cast<std::uint32_t>(waiting_.size());
  io(count);
  if (hold < Nanos{0} || count > kMaxWaiting) io.fail();
  if (!io.ok()) return;
  hold_ = std::clamp(hold, hold_, longest_hold_);
  if (io.is_loading()) waiting_.assign(count, {});
  bool gone = false;
  for (Waiting& entry : waiting_) {
    sample_state(io, entry.sample);
    io(entry.arrival);
    if (implausible({entry.sample.at, entry.sample.at}) || entry.arrival >= arrivals_) io.fail();
    gone = gone || io.take_gone();
  }
  if (!io.ok() || gone) waiting_.clear();
  if (io.is_loading()) std::make_heap(waiting_.begin(), waiting_.end(), comes_later);
}

}  // namespace trainwatch
