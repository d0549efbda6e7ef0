#include "pipeline/engine/step_feed.h"

#include <utility>

#include "trainwatch/json_writer.h"

namespace trainwatch {
namespace {

void write_step(JsonWriter& json, const Step& step, const Subject& subject) {
  json.begin_object();
  if (!subject.job.empty()) json.field("job", subject.job);
  if (!subject.node.empty()) json.field("node", subject.node);
  if (subject.rank != kNoRank) json.field("rank", subject.rank);
  json.key("step");
  step.number == kNoStep ? json.null() : json.value(step.number);
  json.field("mode", to_string(step.mode)).field("origin", to_string(step.origin));
  json.field("started_at", to_rfc3339(step.start));
  json.field("duration_seconds", to_seconds(step.duration));
  json.field("data_wait_seconds", to_seconds(step.data_wait)).end_object();
}

}  // namespace

void StepFeed::add(const Step& step) {
  steps_.push_back(step);
  if (steps_.size() <= kMaxSteps) return;
  steps_.pop_front();
  ++dropped_;
}

StepFeed::Taken StepFeed::take(const Interner& interner) {
  JsonWriter json;
  json.begin_object().key("steps").begin_array();
  for (const Step& step : steps_) write_step(json, step, interner.subjects[step.subject]);
  json.end_array().end_object();
  Taken taken{json.take(), steps_.size(), std::exchange(dropped_, 0)};
  steps_.clear();
  return taken;
}

}  // namespace trainwatch
