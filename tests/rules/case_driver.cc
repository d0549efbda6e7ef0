// SPDX-License-Identifier: Apache-2.0
#include "rules/case_driver.h"

#include <algorithm>
#include <memory>
#include <random>
#include <span>
#include <stdexcept>
#include <utility>

#include "pipeline/engine/alert_json.h"
#include "pipeline/engine/engine.h"
#include "support/engine_state.h"

namespace trainwatch::cases {
namespace {

class Driver {
 public:
  explicit Driver(const Case& made) : engine_({made.rule}) {
    engine_.interner() = made.interner;  // the ids in the events of the case refer to it
  }

  void push(std::span<const Input> events) {
    for (const Input& event : events) {
      std::visit([this](const auto& input) { push(input); }, event);
    }
  }
  std::vector<Alert> emitted() { return engine_.take_emitted(); }
  std::vector<Alert> flushed() {
    engine_.flush();
    return engine_.take_emitted();
  }

  Judged judged() const {
    const RuleHost& host = engine_.host();
    const std::set<std::string_view>& inputs = host.missing(0);
    return {host.evaluations(0), host.warming(0), {inputs.begin(), inputs.end()}};
  }

  StoredRows save() { return test::saved(engine_); }
  void restore(const StoredRows& rows) {
    if (!engine_.load(rows)) throw std::runtime_error("the saved state does not load");
  }

 private:
  void push(const Span& span) { push(Event{span}); }
  void push(const Sample& sample) { push(Event{sample}); }
  void push(const SourceNote& note) { push(Event{note}); }
  void push(const Scalar& scalar) { push(Event{scalar}); }
  void push(const Event& event) { engine_.push({&event, 1}); }
  void push(const Tick& tick) { engine_.tick(tick.now); }
  void push(const Cycle& cycle) { engine_.on(*cycle.summary); }
  void push(const SavedTensor& saved) { engine_.on(*saved.tensor); }
  void push(const EndOfInput&) { engine_.end_of_input(); }

  Engine engine_;
};

void keep_last(const std::vector<Alert>& alerts, Finals& out) {
  for (const Alert& alert : alerts) out[alert.id] = to_json(alert);
}

}  // namespace

Outcome run_straight(const Case& made) {
  Driver driver(made);
  std::vector<Emitted> all;
  for (std::size_t i = 0; i < made.events.size(); ++i) {
    driver.push(std::span(made.events).subspan(i, 1));
    for (const Alert& alert : driver.flushed()) all.push_back({i, alert});
  }
  return {std::move(all), driver.judged()};
}

Finals finals(const std::vector<Emitted>& emitted) {
  Finals last;
  for (const Emitted& one : emitted) last[one.alert.id] = to_json(one.alert);
  return last;
}

Finals run_cut(const Case& made, std::uint64_t seed) {
  Driver driver(made);
  std::mt19937_64 random(seed);
  const std::span<const Input> events(made.events);
  Finals last;
  for (std::size_t from = 0; from < events.size();) {
    const std::size_t size = std::min<std::size_t>(1 + random() % 300, events.size() - from);
    driver.push(events.subspan(from, size));
    keep_last(driver.emitted(), last);
    from += size;
  }
  keep_last(driver.flushed(), last);
  return last;
}

Finals run_killed(const Case& made, std::uint64_t seed) {
  constexpr int kKills = 4;
  std::mt19937_64 random(seed);
  const std::span<const Input> events(made.events);
  const auto up_to = [&](std::size_t from) { return from + random() % (events.size() - from + 1); };
  Finals last;
  auto driver = std::make_unique<Driver>(made);
  std::size_t committed = 0;
  for (int kill = 0; kill < kKills; ++kill) {
    const std::size_t commit = up_to(committed);
    driver->push(events.subspan(committed, commit - committed));
    keep_last(driver->emitted(), last);
    committed = commit;
    const StoredRows stored = driver->save();
    driver->push(events.subspan(committed, up_to(committed) - committed));  // is lost
    driver = std::make_unique<Driver>(made);
    driver->restore(stored);
  }
  driver->push(events.subspan(committed));
  keep_last(driver->flushed(), last);
  return last;
}

}  // namespace trainwatch::cases
