// SPDX-License-Identifier: Apache-2.0
// How a rule reports its evaluations. A rule states whether its condition holds and, on request,
// describes it. Opening, repeating and ending alerts is one mechanism for all rules, in the alert
// book (pipeline/engine/alert_book.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "trainwatch/time.h"
#include "trainwatch/verdict.h"

namespace trainwatch {

// When the book repeats and ends the alerts of a rule; the same for all its instances and keys.
struct Lifecycle {
  // How Condition::figure must change for a further evaluation to be worth an update.
  enum class Change : std::uint8_t {
    any,     // not at all: each is worth one
    points,  // by `min_change`, up or down, since the last update
    rise,    // up by `min_change`
    factor,  // to more than `min_change` times, or less than its inverse
  };
  // As `min_change` of a rise: no figure is worth an update, only what Condition says is.
  static constexpr double kNeverByFigure = 1e18;

  std::int64_t recover_after = 1;  // consecutive clear evaluations that end an alert
  Change change = Change::any;
  double min_change = 0;
  // Keys exclude each other: while one is open, an evaluation that finds another counts as clear,
  // and the other opens when the first has ended.
  bool one_at_a_time = false;
};

// An evaluation that finds the condition.
struct Condition {
  // Distinguishes alerts that one instance of a rule may have open at the same time ("train",
  // "gpu0"). Part of the alert id.
  std::string_view key{};
  Time at{};  // event time of what completed the condition
  // A change that is worth an update whatever Lifecycle says: another severity, another aspect
  // (which pair of GPUs), or an amount that has doubled since the last update.
  Severity severity = Severity::warning;
  std::uint64_t aspect = 0;
  std::uint64_t amount = 0;  // 0: not used
  double figure = 0;         // see Lifecycle::Change
  // What is found by the clock and reported while it lasts: an evaluation by events follows, and
  // replaces it. Not counted, so that a replay, which has no clock, counts the same.
  bool provisional = false;
  bool opens = true;               // false: too little to open an alert, enough to keep one open
  std::int64_t recover_after = 0;  // of this alert from now on; 0: as Lifecycle says
};

// Where an instance of a rule reports. Costs nothing while nothing is wrong.
class Verdicts {
 public:
  virtual ~Verdicts() = default;

  // The condition holds. `describe()` returns the Verdict, and is called only if it is needed.
  template <class Describe>
  void fires(const Condition& condition, Describe&& describe) {
    if (!wants(condition)) return;
    Verdict verdict = std::forward<Describe>(describe)();
    verdict.key = condition.key;
    verdict.at = condition.at;
    verdict.severity = condition.severity;
    verdict.provisional = condition.provisional;
    put(std::move(verdict));
  }
  // The condition holds, with nothing to report: an open alert stays open.
  virtual void holds(std::string_view key) = 0;
  // The condition does not hold, for all keys of this instance.
  virtual void clear(std::string_view key, Time at) = 0;
  virtual void clear_all(Time at) = 0;
  // The subject has begun to train anew: what was open is over.
  virtual void restarted(Time at) = 0;
  // Evaluations that found the condition since the open alert began; 0: none is open. For evidence
  // that counts from there.
  virtual std::uint64_t firings(std::string_view key) const = 0;

 protected:
  virtual bool wants(const Condition& condition) = 0;
  virtual void put(Verdict verdict) = 0;
};

}  // namespace trainwatch
