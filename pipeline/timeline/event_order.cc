// SPDX-License-Identifier: Apache-2.0
#include "pipeline/timeline/event_order.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <queue>
#include <utility>

namespace trainwatch {
namespace {

constexpr std::size_t kWriteBytes = std::size_t{256} << 10U;
constexpr std::size_t kReadBytes = std::size_t{64} << 10U;

// What stands before the text of an event.
struct EventHeader {
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  double value = 0;
  TrackId track{};
  std::uint32_t name_size = 0;
  std::uint32_t rest_size = 0;
  char type = 'X';

  std::size_t text_size() const { return std::size_t{name_size} + rest_size; }
};

void append_event(const TimelineEvent& event, std::string& out) {
  EventHeader header;
  std::memset(static_cast<void*>(&header), 0, sizeof header);
  header.start_ns = event.start_ns;
  header.duration_ns = event.duration_ns;
  header.value = event.value;
  header.track = event.track;
  header.name_size = static_cast<std::uint32_t>(event.name.size());
  header.rest_size = static_cast<std::uint32_t>(event.rest.size());
  header.type = event.type;
  out.append(reinterpret_cast<const char*>(&header), sizeof header);  // NOLINT
  out.append(event.name).append(event.rest);
}

EventHeader header_of(const char* at) {
  EventHeader header;
  std::memcpy(static_cast<void*>(&header), at, sizeof header);
  return header;
}

TimelineEvent event_of(const char* at) {
  const EventHeader header = header_of(at);
  const char* const text = at + sizeof header;
  return {header.start_ns,
          header.duration_ns,
          header.value,
          header.track,
          header.type,
          {text, header.name_size},
          {text + header.name_size, header.rest_size}};
}

}  // namespace

// One run, front to back.
class EventOrder::RunReader {
 public:
  RunReader(RunStore& store, Run run) : store_(store), run_(run) {}

  // Moves to the next event. False: there is none, or the store failed.
  bool next(Status& status) {
    at_ = next_;
    if (!provide(sizeof(EventHeader), status)) return false;
    const std::size_t size = sizeof(EventHeader) + header_of(buffer_.data() + at_).text_size();
    if (!provide(size, status)) return false;
    next_ = at_ + size;
    return true;
  }
  TimelineEvent event() const { return event_of(buffer_.data() + at_); }
  std::int64_t start_ns() const { return header_of(buffer_.data() + at_).start_ns; }

 private:
  bool provide(std::size_t size, Status& status) {
    if (buffer_.size() - at_ >= size) return true;
    buffer_.erase(0, at_);
    next_ -= std::min(next_, at_);
    at_ = 0;
    const std::size_t had = buffer_.size();
    const std::uint64_t more = std::min<std::uint64_t>(std::max(kReadBytes, size - had), run_.size);
    if (had + more < size) return false;
    buffer_.resize(had + more);
    if (status) status = store_.read(run_.offset, {buffer_.data() + had, more});
    run_.offset += more;
    run_.size -= more;
    return status.ok();
  }

  RunStore& store_;
  Run run_;  // what is not in the buffer yet
  std::string buffer_;
  std::size_t at_ = 0;    // of the event
  std::size_t next_ = 0;  // behind it
};

void EventOrder::event(const TimelineEvent& event) {
  const std::size_t size = sizeof(EventHeader) + event.name.size() + event.rest.size();
  const std::size_t used = bytes_.size() + entries_.size() * sizeof(Entry);
  if (used + size + sizeof(Entry) > memory_ && !entries_.empty()) {
    if (store_ == nullptr) {
      ++left_out_;
      return;
    }
    spill();
  }
  if (!status_) return;
  tracks_.saw(event.track, event.start_ns);
  entries_.push_back({event.start_ns, bytes_.size()});
  append_event(event, bytes_);
}

void EventOrder::sort() {
  std::ranges::stable_sort(entries_, {}, &Entry::start_ns);
}

void EventOrder::append(std::string_view bytes) {
  if (status_) status_ = store_->append(bytes);
  stored_ += bytes.size();
}

void EventOrder::spill() {
  sort();
  const Run run{stored_, bytes_.size()};
  std::string piece;
  for (const Entry& entry : entries_) {
    const char* const at = bytes_.data() + entry.offset;
    piece.append(at, sizeof(EventHeader) + header_of(at).text_size());
    if (piece.size() < kWriteBytes) continue;
    append(piece);
    piece.clear();
  }
  append(piece);
  entries_.clear();
  bytes_.clear();
  add_run(0, run);
}

void EventOrder::add_run(std::size_t level, Run run) {
  if (levels_.size() == level) levels_.emplace_back();
  levels_[level].push_back(run);
  if (levels_[level].size() < kMostRuns || !status_) return;
  // Appends to the store.
  struct Appender final : TimelineSink {
    explicit Appender(EventOrder& its_order) : order(its_order) {}
    void event(const TimelineEvent& event) override {
      append_event(event, piece);
      if (piece.size() >= kWriteBytes) order.append(std::exchange(piece, {}));
    }
    EventOrder& order;
    std::string piece;
  };
  const std::uint64_t begin = stored_;
  const std::vector<Run> runs = std::exchange(levels_[level], {});
  Appender appender(*this);
  merge(runs, appender);
  append(appender.piece);
  for (const Run& merged : runs) store_->forget(merged.offset, merged.size);
  add_run(level + 1, {begin, stored_ - begin});
}

// Of events with one start, those of earlier runs come first.
void EventOrder::merge(const std::vector<Run>& runs, TimelineSink& to) {
  struct Next {
    std::int64_t start_ns;
    std::size_t run;
    bool operator>(const Next& other) const {
      return std::pair(start_ns, run) > std::pair(other.start_ns, other.run);
    }
  };
  std::vector<std::unique_ptr<RunReader>> readers;
  std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
  for (const Run& run : runs) {
    readers.push_back(std::make_unique<RunReader>(*store_, run));
    if (readers.back()->next(status_)) next.push({readers.back()->start_ns(), readers.size() - 1});
  }
  while (!next.empty() && status_) {
    const std::size_t run = next.top().run;
    next.pop();
    RunReader& reader = *readers[run];
    to.event(reader.event());
    if (reader.next(status_)) next.push({reader.start_ns(), run});
  }
}

Status EventOrder::drain(TimelineSink& to) {
  if (levels_.empty()) {
    sort();
    for (const Entry& entry : entries_) to.event(event_of(bytes_.data() + entry.offset));
    return status_;
  }
  if (!entries_.empty()) spill();
  bytes_ = {};
  entries_ = {};
  std::vector<Run> runs;
  for (auto level = levels_.rbegin(); level != levels_.rend(); ++level)
    runs.insert(runs.end(), level->begin(), level->end());
  merge(runs, to);
  return status_;
}

}  // namespace trainwatch
