// SPDX-License-Identifier: Apache-2.0
#include "rules/tensor/tensor_words.h"

#include <cmath>
#include <string>

#include "rules/format.h"
#include "trainwatch/json_writer.h"

namespace trainwatch {
namespace {

constexpr std::size_t kLongestName = 80;  // bytes, in a sentence

std::string named(const TensorFinding& finding) {
  return format::cut(finding.name, kLongestName) + " (" + format::figure(finding.value) + ")";
}

std::string place(const TensorFinding& finding) {
  std::string text = finding.step == kNoStep ? "" : " at step " + std::to_string(finding.step);
  if (finding.mode != Mode::unknown) text += " (" + std::string(to_string(finding.mode)) + ")";
  return text;
}

std::string summary_of(const TensorPhrases& phrases, std::span<const TensorFinding> first,
                       std::size_t bad, std::size_t judged) {
  const TensorFinding& worst = first.front();
  const std::string limit = std::string(phrases.figure) + ", limit " +
                            format::figure(worst.threshold) +
                            (phrases.unit.empty() ? "" : " " + std::string(phrases.unit));
  const std::string thing(phrases.thing);
  if (bad == 1) {
    const std::string name = worst.name.empty() ? "" : format::cut(worst.name, kLongestName) + " ";
    return "The " + thing + " " + name + std::string(phrases.one) + place(worst) + ": " +
           format::figure(worst.value) + " (" + limit + ").";
  }
  std::string text = std::to_string(bad) + " of " + std::to_string(judged) + " " + thing +
                     (thing.ends_with('s') ? "es " : "s ") + std::string(phrases.many) +
                     place(worst) + " (" + limit + "): ";
  for (std::size_t i = 0; i < first.size(); ++i) text += (i == 0 ? "" : ", ") + named(first[i]);
  if (bad > first.size()) text += " and " + std::to_string(bad - first.size()) + " more";
  return text + ".";
}

void write(JsonWriter& json, const TensorFinding& finding) {
  json.begin_object().field("tensor", format::cut(finding.name, 2 * kLongestName));
  json.field("mode", to_string(finding.mode));
  if (finding.step != kNoStep) json.field("step", finding.step);
  if (finding.first_step != kNoStep) json.field("first_step", finding.first_step);
  json.field("value", finding.value).field("threshold", finding.threshold).end_object();
}

}  // namespace

Verdict describe_tensors(const TensorPhrases& phrases, std::span<const TensorFinding> first,
                         std::size_t bad, std::size_t judged) {
  const TensorFinding& worst = first.front();
  Verdict verdict;
  verdict.since = worst.since;
  verdict.step = worst.first_step;
  verdict.by_step = true;
  verdict.value = worst.value;
  verdict.threshold = worst.threshold;
  verdict.unit = phrases.unit;
  verdict.summary = summary_of(phrases, first, bad, judged);
  verdict.next = phrases.next;
  JsonWriter evidence;
  evidence.begin_object();
  if (!phrases.pattern.empty()) evidence.field("pattern", phrases.pattern);
  evidence.field("figure", phrases.figure).field("bad", bad).field("judged", judged);
  evidence.key("tensors").begin_array();
  for (const TensorFinding& finding : first) write(evidence, finding);
  verdict.evidence = evidence.end_array().end_object().take();
  return verdict;
}

}  // namespace trainwatch
