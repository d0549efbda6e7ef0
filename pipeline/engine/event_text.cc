#include "pipeline/engine/event_text.h"

namespace trainwatch {
namespace {

std::string at(Time time) {
  return " at " + to_rfc3339(time);
}

std::string text_of(const Span& span, const Vocabulary& vocabulary) {
  std::string text = "span ";
  text += vocabulary.text(span.name);
  if (span.step != kNoStep) text += ", step " + std::to_string(span.step) + ",";
  return text + at(span.start);
}

std::string text_of(const Sample& sample, const Vocabulary& vocabulary) {
  const Series& series = vocabulary.series[sample.series];
  std::string text = "sample ";
  text += vocabulary.text(series.dimension);
  text += ' ';
  text += vocabulary.text(series.name);
  return text + " = " + std::to_string(sample.value) + at(sample.at);
}

}  // namespace

std::string event_text(const Event& event, const Vocabulary& vocabulary) {
  if (const auto* span = std::get_if<Span>(&event)) return text_of(*span, vocabulary);
  if (const auto* sample = std::get_if<Sample>(&event)) return text_of(*sample, vocabulary);
  const auto* step = std::get_if<Step>(&event);
  return step == nullptr ? "event" : "step " + std::to_string(step->number) + at(step->start);
}

}  // namespace trainwatch
