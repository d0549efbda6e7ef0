#include "rules/case_driver.h"

#include <algorithm>
#include <memory>
#include <random>
#include <span>
#include <stdexcept>
#include <utility>

#include "pipeline/engine/engine.h"
#include "support/engine_rows.h"

namespace trainwatch::cases {
namespace {

class Driver {
 public:
  explicit Driver(const Case& made) : engine_({*made.rule}) {
    engine_.vocabulary() = made.vocabulary;  // the ids in the events of the case refer to it
  }

  void push(std::span<const Event> events) {
    while (!events.empty()) {
      const auto tick = std::ranges::find_if(
          events, [](const Event& event) { return std::holds_alternative<Tick>(event); });
      const auto before = static_cast<std::size_t>(tick - events.begin());
      engine_.push(events.first(before));
      events = events.subspan(before);
      if (events.empty()) return;
      engine_.tick(std::get<Tick>(events.front()).now);
      events = events.subspan(1);
    }
  }
  std::vector<Alert> told() { return engine_.take_told(); }
  std::vector<Alert> told_all() {
    engine_.flush();
    return engine_.take_told();
  }

  std::set<std::string> missing() const {
    const std::set<std::string_view> inputs = engine_.host().missing(0);
    return {inputs.begin(), inputs.end()};
  }

  StoredRows save() { return test::saved(engine_); }
  void restore(const StoredRows& rows) {
    if (!engine_.load(rows)) throw std::runtime_error("the saved state does not load");
  }

 private:
  Engine engine_;
};

void keep_last(const std::vector<Alert>& told, Finals& out) {
  for (const Alert& alert : told) out[alert.id] = to_json(alert, "");
}

}  // namespace

Outcome run_straight(const Case& made) {
  Driver driver(made);
  std::vector<Told> all;
  for (std::size_t i = 0; i < made.events.size(); ++i) {
    driver.push(std::span(made.events).subspan(i, 1));
    for (const Alert& alert : driver.told_all()) all.push_back({i, alert});
  }
  return {std::move(all), driver.missing()};
}

Finals finals(const std::vector<Told>& told) {
  Finals last;
  for (const Told& one : told) last[one.alert.id] = to_json(one.alert, "");
  return last;
}

Finals run_cut(const Case& made, std::uint64_t seed) {
  Driver driver(made);
  std::mt19937_64 random(seed);
  const std::span<const Event> events(made.events);
  Finals last;
  for (std::size_t from = 0; from < events.size();) {
    const std::size_t size = std::min<std::size_t>(1 + random() % 300, events.size() - from);
    driver.push(events.subspan(from, size));
    keep_last(driver.told(), last);
    from += size;
  }
  keep_last(driver.told_all(), last);
  return last;
}

Finals run_killed(const Case& made, std::uint64_t seed) {
  constexpr int kKills = 4;
  std::mt19937_64 random(seed);
  const std::span<const Event> events(made.events);
  const auto up_to = [&](std::size_t from) { return from + random() % (events.size() - from + 1); };
  Finals last;
  auto driver = std::make_unique<Driver>(made);
  std::size_t committed = 0;
  for (int kill = 0; kill < kKills; ++kill) {
    const std::size_t commit = up_to(committed);
    driver->push(events.subspan(committed, commit - committed));
    keep_last(driver->told(), last);
    committed = commit;
    const StoredRows stored = driver->save();
    driver->push(events.subspan(committed, up_to(committed) - committed));  // is lost
    driver = std::make_unique<Driver>(made);
    driver->restore(stored);
  }
  driver->push(events.subspan(committed));
  keep_last(driver->told_all(), last);
  return last;
}

}  // namespace trainwatch::cases
