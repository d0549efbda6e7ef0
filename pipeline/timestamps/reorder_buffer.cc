// SPDX-License-Identifier: Apache-2.0
#include "pipeline/timestamps/reorder_buffer.h"

#include <algorithm>
#include <utility>

#include "pipeline/timestamps/event_time.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMostSpare = 16;

}  // namespace

ReorderBuffer::ReorderBuffer(const TimestampFilterOptions& options)
    : longest_hold_(options.lateness), hold_(std::min(options.min_hold, options.lateness)) {}

void ReorderBuffer::add(const Sample& sample, Time newest, EventBatch& out) {
  hold_ = std::max(hold_, std::min(newest - sample.at, longest_hold_));
  if (idle()) {
    out.emplace_back(sample);
    return;
  }
  insert(sample);
  while (!waiting_.empty() && (waiting_.begin()->first <= newest - hold_ || count_ > kMaxWaiting)) {
    release_oldest(out);
  }
}

void ReorderBuffer::insert(const Sample& sample) {
  ++count_;
  const auto [tick, is_new] = waiting_.try_emplace(sample.at);
  if (is_new && !spare_.empty()) {
    tick->second = std::move(spare_.back());
    spare_.pop_back();
  }
  tick->second.push_back(sample);
}

void ReorderBuffer::release_oldest(EventBatch& out) {
  std::vector<Sample> samples = std::move(waiting_.begin()->second);
  waiting_.erase(waiting_.begin());
  for (const Sample& sample : samples) out.emplace_back(sample);
  count_ -= samples.size();
  samples.clear();
  if (spare_.size() < kMostSpare) spare_.push_back(std::move(samples));
}

void ReorderBuffer::release_all(EventBatch& out) {
  while (!waiting_.empty()) release_oldest(out);
  spare_ = {};
}

void ReorderBuffer::state(StateIo& io) {
  Nanos hold = hold_;
  io(hold);
  auto count = static_cast<std::uint32_t>(count_);
  io(count);
  if (hold < Nanos{0} || count > kMaxWaiting) io.fail();
  if (!io.ok()) return;
  hold_ = std::clamp(hold, hold_, longest_hold_);
  if (!io.is_loading()) {
    for (auto& [at, samples] : waiting_) {
      for (Sample& sample : samples) sample_state(io, sample);
    }
    return;
  }
  waiting_.clear();
  count_ = 0;
  bool gone = false;
  for (std::uint32_t i = 0; i < count && io.ok(); ++i) {
    Sample sample;
    sample_state(io, sample);
    if (implausible({sample.at, sample.at})) io.fail();
    gone = gone || io.take_gone();
    if (io.ok()) insert(sample);
  }
  if (io.ok() && !gone) return;
  waiting_.clear();
  count_ = 0;
}

}  // namespace trainwatch
