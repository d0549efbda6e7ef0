// SPDX-License-Identifier: Apache-2.0
// The sentence on top: what a run is doing, at what rate, since when, why, on which ranks, and what
// it costs. A pure function of the run, the alerts about it and its account of lost time; the same
// in /api/v1/runs, in a terminal and in the report.
//
//   Running: 4.2 steps/s, step 12,345; nothing is lost.
//   Slow: since {since} ({for}) every step waits for data on ranks 0-7: 31 % of the time is lost,
//       41 GPU minutes so far; 2.9 steps/s.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "pipeline/ledger/run_ledger.h"
#include "trainwatch/alert.h"
#include "trainwatch/rule.h"
#include "trainwatch/time.h"

namespace trainwatch {

// {since} and {for} in the text are for whoever shows it: fill_headline() in headline_text.h.
struct Headline {
  std::string text;
  Time since = kNoTime;  // kNoTime: the text has no placeholders
};

// A run as it is shown: its account, and where it is.
struct RunView {
  Life life;
  std::string id = {};  // see RunLedger::id()
  std::uint32_t attempt = 1;
  double seconds_per_step = 0;                          // lately; 0: not known
  std::map<std::string, std::set<std::int32_t>> nodes;  // the ranks of each; those without a number
                                                        // are left out
  std::size_t rank_count = 1;                           // with those
  bool process_gone = false;
  bool gpus = false;  // it is known to have some

  std::set<std::int32_t> ranks() const;
  // How many the job has, also those that nobody watches here.
  double ranks_of_job() const;
  // What seconds of the run cost: "12 GPU seconds" of all ranks where there are GPUs, else "3 s".
  std::string cost_words(double seconds) const;
};

// An alert and its rule. Not null.
struct AlertView {
  const Alert* alert = nullptr;
  const RuleSpec* rule = nullptr;
  // Seconds of the run that its account has lost since the alert began to what it is about.
  double lost = 0;
  // "0-3": those of all alerts that it stands for; empty: as the alert says.
  std::string ranks = {};
};

// The alerts about one run.
struct RunAlerts {
  static constexpr Nanos kRecent = std::chrono::minutes(10);

  std::vector<AlertView> firing;  // at `warning` and above
  std::vector<AlertView> info;    // the others that fire
  std::vector<AlertView> over;    // of its attempt, over for kRecent at most; were at `warning`
};

// `now`: that of the account. The headline gives the incident that costs most, in the words of
// the alert that speaks for it or of its alerts that still fire (reasons.h).
Headline headline(const RunView& run, const RunAlerts& alerts, Time now);

}  // namespace trainwatch
