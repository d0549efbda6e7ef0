// SPDX-License-Identifier: Apache-2.0
// A job whose account is known: ranks that compute, wait for the slowest in the backward pass, and
// go on. Truth by what was put in.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <type_traits>
#include <variant>
#include <vector>

#include "pipeline/ledger/run_ledger.h"

namespace trainwatch {

class MadeUpJob {
 public:
  using ByRank = std::map<std::uint32_t, double>;
  struct LoggedChange {
    SubjectId subject = SubjectId::none;
    WorkChange change;
  };
  using Input = std::variant<Span, Step, RunNote, LoggedChange>;
  struct Event {
    Time at{};
    std::uint32_t rank = 0;
    Input input;
  };
  struct Options {
    std::uint32_t ranks = 4;
    double base = 0.4;  // seconds of an iteration
    double noise = 0;   // standard deviation of a rank's forward pass
    std::uint32_t seed = 1;
    double skew = 0;          // of clocks, at most
    std::uint32_t world = 0;  // 0: as many as ranks
    bool sharded = false;     // the forward pass waits for others, too
    double began = 1.8e9;
    double startup = 20;
    std::int64_t first_step = 0;
  };
  struct Iteration {
    LifePart part = LifePart::training;
    ByRank wait{};
    ByRank slow{};
    double grow = 1;
    double elsewhere = 0;
    ByRank mark{};  // evaluation before it
  };

  explicit MadeUpJob(const Options& options) : o_(options), random_(options.seed) {
    if (o_.world == 0) o_.world = o_.ranks;
    std::uniform_real_distribution<double> skew(-o_.skew, o_.skew);
    for (std::uint32_t r = 0; r < o_.ranks; ++r) {
      skew_.push_back(o_.skew > 0 ? skew(random_) : 0);
      RunNote note;
      note.kind = RunNote::Kind::process_began;
      note.at = time(o_.began, r);
      note.subject = subject(r);
      note.world_size = o_.world;
      put(r, note.at, note);
    }
    now_ = o_.began + o_.startup;
    step_ = o_.first_step;
    truth_[LifePart::startup] = o_.startup;
  }

  void iterate() { iterate(Iteration{}); }
  void iterate(const Iteration& it);
  // Each rank logs the size of its last step.
  void log_size(double size);
  double now() const { return now_; }
  double began() const { return o_.began; }
  std::mt19937& random() { return random_; }
  PartSeconds& truth() { return truth_; }
  std::vector<Event>& events() { return events_; }

  // In the order of time, each rank late by `delay`.
  std::vector<Event> in_order(const std::function<double(std::uint32_t)>& delay = {}) const {
    std::vector<Event> sorted = events_;
    const auto due = [&delay](const Event& event) {
      return delay ? event.at + from_seconds(delay(event.rank)) : event.at;
    };
    std::ranges::stable_sort(sorted, {}, due);
    return sorted;
  }
  static void feed(RunLedger& ledger, const Event& event, const RunLedger::Clock& clock) {
    const RunLedger::Writer writer{subject(event.rank), static_cast<std::int32_t>(event.rank)};
    std::visit(
        [&]<class Kind>(const Kind& input) {
          if constexpr (std::is_same_v<Kind, LoggedChange>) {
            ledger.on(input.subject, input.change);
          } else {
            ledger.on(writer, input, clock);
          }
        },
        event.input);
    ledger.advance(clock, nullptr);
  }
  void close(RunLedger& ledger) const {
    for (std::uint32_t r = 0; r < o_.ranks; ++r) {
      ledger.closed({subject(r), static_cast<std::int32_t>(r)});
    }
  }
  // Finished files.
  RunLedger replay(const std::vector<Event>& events) const {
    RunLedger ledger;
    for (const Event& event : events) feed(ledger, event, {});
    close(ledger);
    ledger.advance({kNoTime, 0, true}, nullptr);
    return ledger;
  }
  RunLedger replay() const { return replay(in_order()); }

  static SubjectId subject(std::uint32_t rank) { return static_cast<SubjectId>(rank + 2); }

 private:
  static double of(const ByRank& values, std::uint32_t rank) {
    const auto found = values.find(rank);
    return found == values.end() ? 0 : found->second;
  }
  Time time(double seconds, std::uint32_t rank) const {
    return Time{from_seconds(seconds + skew_[rank])};
  }
  void put(std::uint32_t rank, Time at, Input input) { events_.push_back({at, rank, input}); }
  void span(std::uint32_t rank, SpanKind kind, double from, double to) {
    Span span;
    span.start = time(from, rank);
    span.duration = from_seconds(to - from);
    span.subject = subject(rank);
    span.kind = kind;
    put(rank, span.end(), span);
  }

  Options o_;
  std::mt19937 random_;
  std::vector<double> skew_;
  std::vector<Event> events_;
  std::map<std::uint32_t, double> last_end_;
  std::vector<WorkStages> sizes_;
  double now_ = 0;
  std::int64_t step_ = 0;
  PartSeconds truth_;
};

inline void MadeUpJob::log_size(double size) {
  sizes_.resize(o_.ranks);
  for (std::uint32_t r = 0; r < o_.ranks; ++r) {
    Scalar scalar;
    scalar.kind = ScalarKind::step_size;
    scalar.tag = static_cast<Symbol>(1);
    scalar.at = time(now_ + 0.001, r);
    scalar.value = size;
    if (sizes_[r].on(scalar)) put(r, scalar.at, LoggedChange{subject(r), sizes_[r].change()});
  }
}

inline void MadeUpJob::iterate(const Iteration& it) {
  std::normal_distribution<double> normal(1, std::max(o_.noise, 1e-9));
  struct Row {
    double first = 0;
    double forward = 0;
  };
  std::vector<Row> rows;
  double clean = 0;
  double arrived = 0;
  double late = 0;
  for (std::uint32_t r = 0; r < o_.ranks; ++r) {
    const double each = o_.noise > 0 ? std::max(0.5, normal(random_)) : 1;
    const double forward = o_.base * 0.4 * it.grow * each;
    Row row{of(it.mark, r) + of(it.wait, r), forward + of(it.slow, r)};
    clean = std::max(clean, it.part == LifePart::training ? forward : o_.base * 0.4 * each);
    arrived = std::max(arrived, row.first + row.forward);
    late = std::max(late, row.first);
    rows.push_back(row);
  }
  const double end = now_ + arrived + it.elsewhere + o_.base * 0.6 * it.grow;
  for (std::uint32_t r = 0; r < o_.ranks; ++r) {
    const double mark = of(it.mark, r);
    const double at = now_ + mark;
    const double wait = of(it.wait, r) + o_.base * 0.002;
    double forward = at + wait + rows[r].forward;
    if (o_.sharded) forward = std::max(forward, now_ + late + o_.base * 0.4 * it.grow);
    forward = std::min(forward, end - o_.base * 0.2);
    span(r, SpanKind::forward, at + wait, forward);
    span(r, SpanKind::backward, forward, end - o_.base * 0.05);
    span(r, SpanKind::optimizer, end - o_.base * 0.05, end);
    Step step;
    step.start = time(at, r);
    step.duration = from_seconds(end - at);
    step.begin = last_end_.contains(r) ? time(last_end_[r], r) : step.start;
    step.opens_attempt = !last_end_.contains(r);
    step.data_wait = from_seconds(wait);
    step.evaluation = from_seconds(mark);
    step.number = step_;
    step.subject = subject(r);
    step.mode = Mode::train;
    put(r, time(end, r), step);
    last_end_[r] = end;
  }
  const double usual = clean + o_.base * 0.6 * (it.part == LifePart::training ? it.grow : 1);
  const double normal_part = std::min(usual, end - now_);
  truth_[it.part == LifePart::redone ? LifePart::redone : LifePart::training] += normal_part;
  truth_[it.part] += end - now_ - normal_part;
  now_ = end;
  ++step_;
}

}  // namespace trainwatch
