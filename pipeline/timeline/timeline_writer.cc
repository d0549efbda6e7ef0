// SPDX-License-Identifier: Apache-2.0
#include "pipeline/timeline/timeline_writer.h"

#include "pipeline/timeline/counter_events.h"
#include "trainwatch/json_writer.h"

namespace trainwatch {
namespace {

// As JSON.
template <class Value>
std::string json_text(const Value& value) {
  JsonWriter json;
  json.value(value);
  return json.take();
}

}  // namespace

void TimelineWriter::name(TrackId id) {
  const TrackTable::Track& track = tracks_[id];
  const std::string pid = std::to_string(tracks_[track.process].number);
  const auto process = static_cast<std::size_t>(track.process);
  if (!named_[process]) {
    named_[process] = true;
    writer_.event(R"({"name": "process_name", "ph": "M", "pid": )" + pid +
                  R"(, "args": {"name": )" + json_text(tracks_.full_name(track.process)) + "}}");
    writer_.event(R"({"name": "process_sort_index", "ph": "M", "pid": )" + pid +
                  R"(, "args": {"sort_index": )" + pid + "}}");
  }
  std::int64_t& thread = thread_ids_[static_cast<std::size_t>(id)];
  thread = ++threads_;
  if (!track.is_thread) return;
  writer_.event(R"({"name": "thread_name", "ph": "M", "pid": )" + pid + R"(, "tid": )" +
                std::to_string(thread) + R"(, "args": {"name": )" + json_text(track.name) + "}}");
}

void TimelineWriter::event(const TimelineEvent& event) {
  const TrackTable::Track& track = tracks_[event.track];
  const auto place = static_cast<std::size_t>(event.track);
  if (thread_ids_[place] == 0) name(event.track);
  text_.assign("{\"name\": ").append(event.name);
  text_.append(", \"pid\": ").append(std::to_string(tracks_[track.process].number));
  if (track.is_thread) text_.append(", \"tid\": ").append(std::to_string(thread_ids_[place]));
  text_.append(", \"ph\": \"").append(1, event.type);
  text_.append("\", \"ts\": ").append(micros_text(event.start_ns));
  if (event.duration_ns != TimelineEvent::kNoDuration)
    text_.append(", \"dur\": ").append(micros_text(event.duration_ns));
  if (event.rest.empty() && event.type == 'C')
    text_.append(R"(, "args": {"value": )").append(json_text(event.value)).append("}");
  writer_.event(text_.append(event.rest).append("}"));
}

}  // namespace trainwatch
