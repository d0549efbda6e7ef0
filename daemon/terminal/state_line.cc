// SPDX-License-Identifier: Apache-2.0
#include "daemon/terminal/state_line.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <utility>

#include "daemon/terminal/local_zone.h"
#include "pipeline/decode/json_member.h"
#include "pipeline/engine/headline_text.h"

namespace trainwatch {
namespace {

using simdjson::dom::element;

// The state of whoever needs help most comes first.
std::size_t urgency(std::string_view state) {
  constexpr std::array<std::string_view, 6> kOrder = {"stalled",  "slow", "running",
                                                      "starting", "gone", "finished"};
  return static_cast<std::size_t>(std::ranges::find(kOrder, state) - kOrder.begin());
}

}  // namespace

void StateLine::on_steps(std::string_view json) {
  simdjson::dom::parser parser;
  simdjson::dom::array steps;
  if (parser.parse(json.data(), json.size())["steps"].get_array().get(steps) != simdjson::SUCCESS)
    return;
  double sum = 0;
  double count = 0;
  for (const element step : steps) {
    double seconds = 0;
    const std::string mode = text_member(step, "mode");
    if (mode == "eval" || mode == "predict") continue;
    if (step["iteration_seconds"].get_double().get(seconds) != simdjson::SUCCESS) continue;
    sum += seconds;
    ++count;
  }
  if (count > 0) iterations_.add(sum / count);
}

StateLine::News StateLine::on_runs(std::string_view json) {
  simdjson::dom::parser parser;
  element object;
  simdjson::dom::array runs;
  if (parser.parse(json.data(), json.size()).get(object) != simdjson::SUCCESS) return {};
  if (object["runs"].get_array().get(runs) != simdjson::SUCCESS) return {};
  Run worst;
  runs_ = 0;
  for (const element run : runs) {
    element headline;
    if (run["headline"].get(headline) != simdjson::SUCCESS) continue;
    Run one{text_member(run, "job"), text_member(run, "state"), text_member(headline, "text"),
            time_member(headline, "since")};
    if (runs_++ == 0 || urgency(one.state) < urgency(worst.state)) worst = std::move(one);
  }
  std::string monitor = text_member(object, "monitor");
  const News news{worst.state != worst_.state || worst.job != worst_.job,
                  monitor != monitor_ && !monitor.empty()};
  worst_ = std::move(worst);
  monitor_ = std::move(monitor);
  return news;
}

std::string StateLine::sentence(Time now) const {
  std::string text = monitor_.empty() ? "" : "[monitoring impaired] ";
  if (runs_ == 0) return text + "No training step has been seen yet.";
  if (runs_ > 1) text += worst_.job + ": ";
  text += fill_headline(worst_.headline, worst_.since, now, local_zone(worst_.since));
  if (runs_ > 1) text += " (" + std::to_string(runs_) + " runs)";
  return text;
}

std::string StateLine::text(Time now) const {
  const std::string row = iterations_.text();
  return row.empty() ? sentence(now) : row + " " + sentence(now);
}

}  // namespace trainwatch
