// SPDX-License-Identifier: Apache-2.0
#include "rules/cycle_line.h"

#include <array>
#include <cmath>
#include <string>
#include <utility>

namespace trainwatch::cases {
namespace {

constexpr std::uint64_t kLaunchesPerStep = 10;
constexpr std::uint64_t kGroup = 1;

struct Options {
  std::array<double, kIdleReasons> idle{};  // percent of a step, as all shares here
  double exposed = 0;
  double hidden = 0;
  double copy = 0;
  double layers = 0;
  double meet = 0;
  double covered_wait = 0;
  double work_us = 100;
  double call_us = 5;
  std::int64_t stall_step = kNoStep;
  double stall_seconds = 0;
  std::int64_t world = 0;
  bool no_work = false;
  bool no_steps = false;
  bool unlaunched = false;
};

bool read_flag(std::string_view word, Options& out) {
  const std::pair<std::string_view, bool*> flags[] = {
      {"nowork", &out.no_work}, {"nosteps", &out.no_steps}, {"unlaunched", &out.unlaunched}};
  for (const auto& [name, flag] : flags) {
    if (word != name) continue;
    *flag = true;
    return true;
  }
  return false;
}

bool read_option(std::string_view key, std::string_view text, Options& out) {
  constexpr std::array<std::string_view, kIdleReasons> kReasons = {"wait", "pause", "sync",
                                                                   "launch", "queued"};
  for (std::size_t i = 0; i < kIdleReasons; ++i) {
    if (key == kReasons[i]) return read(text, out.idle[i]);
  }
  if (key == "exposed") return read(text, out.exposed);
  if (key == "hidden") return read(text, out.hidden);
  if (key == "copy") return read(text, out.copy);
  if (key == "layers") return read(text, out.layers);
  if (key == "meet") return read(text, out.meet);
  if (key == "covered_wait") return read(text, out.covered_wait);
  if (key == "work_us") return read(text, out.work_us);
  if (key == "call_us") return read(text, out.call_us);
  if (key == "world") return read(text, out.world);
  const std::size_t colon = std::min(text.find(':'), text.size() - 1);
  return key == "stall" && read(text.substr(0, colon), out.stall_step) &&
         read(text.substr(colon + 1), out.stall_seconds);
}

Status read_options(const Words& words, Options& out) {
  for (std::size_t i = 3; i < words.size(); ++i) {
    if (read_flag(words[i], out)) continue;
    const std::string_view text = i + 1 < words.size() ? words[i + 1] : "";
    if (text.empty() || !read_option(words[i], text, out)) {
      return Error{"cannot read '" + std::string(words[i]) + " " + std::string(text) + "'"};
    }
    ++i;
  }
  double parts = out.exposed + out.hidden + out.copy;
  for (const double idle : out.idle) parts += idle;
  if (parts > 100) return Error{"the parts of a step are more than 100 percent"};
  return success();
}

std::int64_t share(double percent, std::int64_t whole_ns) {
  return std::llround(percent / 100 * static_cast<double>(whole_ns));
}

StepSummary step_of(const Options& options, std::int64_t number, std::int64_t start_ns,
                    std::int64_t usual_ns) {
  StepSummary step;
  step.number = number;
  step.start_ns = start_ns;
  step.duration_ns = usual_ns;
  step.data_wait_ns = share(options.idle[0] + options.covered_wait, usual_ns);
  const bool stalls = options.stall_step != kNoStep && number == options.stall_step;
  const std::int64_t stall_ns = stalls ? std::llround(options.stall_seconds * 1e9) : 0;
  step.duration_ns += stall_ns;
  if (options.no_work) return step;
  for (std::size_t i = 0; i < kIdleReasons; ++i) {
    step.idle_ns[i] = share(options.idle[i], usual_ns);
  }
  step.idle_ns[static_cast<std::size_t>(IdleReason::host_pause)] += stall_ns;
  step.exposed_communication_ns = share(options.exposed, usual_ns);
  step.layer_communication_ns = share(options.layers, usual_ns);
  step.overlapped_ns = share(options.hidden, usual_ns);
  step.communication_ns = step.exposed_communication_ns + step.overlapped_ns;
  step.exposed_memory_ns = share(options.copy, usual_ns);
  step.computation_ns = step.duration_ns - step.idle_sum_ns() - step.exposed_communication_ns -
                        step.exposed_memory_ns;
  if (options.meet > 0) {
    const std::int64_t part = share(options.meet, usual_ns);
    step.collectives.push_back(
        {kGroup, number, part, std::min(part, step.exposed_communication_ns)});
  }
  return step;
}

// The whole cycle as the one step that is none.
StepSummary without_steps(const CycleSummary& cycle) {
  StepSummary whole = cycle.steps.front();
  for (std::size_t i = 1; i < cycle.steps.size(); ++i) {
    const StepSummary& step = cycle.steps[i];
    whole.duration_ns += step.duration_ns;
    whole.data_wait_ns += step.data_wait_ns;
    whole.computation_ns += step.computation_ns;
    whole.communication_ns += step.communication_ns;
    whole.overlapped_ns += step.overlapped_ns;
    whole.exposed_memory_ns += step.exposed_memory_ns;
    whole.exposed_communication_ns += step.exposed_communication_ns;
    for (std::size_t j = 0; j < kIdleReasons; ++j) whole.idle_ns[j] += step.idle_ns[j];
  }
  whole.number = kNoStep;
  return whole;
}

// What is known of the cycle as a whole.
void sum_up(const Options& options, CycleSummary& cycle) {
  cycle.world_size = options.world;
  cycle.computation_ns = cycle.sum(&StepSummary::computation_ns);
  cycle.communication_ns = cycle.sum(&StepSummary::communication_ns);
  cycle.memory_ns = cycle.sum(&StepSummary::exposed_memory_ns);
  cycle.overlapped_ns = cycle.sum(&StepSummary::overlapped_ns);
  if (options.no_work) return;
  cycle.window_ns = cycle.busy_ns = cycle.step_ns();
  for (const StepSummary& step : cycle.steps) cycle.busy_ns -= step.idle_sum_ns();
  cycle.activities = kLaunchesPerStep * cycle.steps.size();
  if (options.unlaunched) return;
  cycle.launched_activities = cycle.launches = cycle.activities;
  const auto launches = static_cast<double>(cycle.launches);
  cycle.launch_calls_ns = std::llround(launches * options.call_us * 1000);
  cycle.launched_ns = std::llround(launches * options.work_us * 1000);
}

}  // namespace

Result<CycleSummary> read_cycle_line(const Words& words, Time start) {
  std::int64_t first = 0;
  std::int64_t last = 0;
  double seconds = 0;
  if (words.size() < 3 || !read_range(words[1], first, last) || !read(words[2], seconds) ||
      last < first) {
    return Error{"cycle A..B SECONDS [options]"};
  }
  Options options;
  if (const Status done = read_options(words, options); !done.ok()) return done.error();
  CycleSummary cycle;
  std::int64_t start_ns = to_ns(start);
  for (std::int64_t number = first; number <= last; ++number) {
    cycle.steps.push_back(step_of(options, number, start_ns, std::llround(seconds * 1e9)));
    start_ns = cycle.steps.back().end_ns();
  }
  sum_up(options, cycle);
  cycle.find_warm_up();
  if (options.no_steps) {
    cycle.steps = {without_steps(cycle)};
    cycle.warm_up_steps = 0;
  }
  return cycle;
}

}  // namespace trainwatch::cases
