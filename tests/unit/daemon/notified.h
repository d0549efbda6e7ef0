// SPDX-License-Identifier: Apache-2.0
// Alerts for tests of notification.
#pragma once

#include <stdexcept>
#include <string>

#include "daemon/notify/notified_alert.h"

namespace trainwatch {

struct TestAlert {
  std::string id = "a1";
  std::uint64_t seq = 1;
  bool firing = true;
  Severity severity = Severity::warning;
  std::string rule = "step_spike";
  std::string subject = R"({"job":"bert","node":"algo-1","rank":3})";
  std::string summary = "slow";
  bool part = false;
};

inline PublishedAlertPtr published_alert(const TestAlert& alert) {
  const std::string state = alert.firing ? "firing" : "resolved";
  const std::string json =
      R"({"id":")" + alert.id + R"(","seq":)" + std::to_string(alert.seq) + R"(,"state":")" +
      state + R"(","rule":")" + alert.rule + R"(","severity":")" +
      std::string(to_string(alert.severity)) +
      R"(","started_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:10Z","ended_at":)" +
      (alert.firing ? "null" : R"("2026-01-01T00:00:30Z")") + R"(,"ended_because":)" +
      (alert.firing ? "null" : R"("recovered")") + R"(,"subject":)" + alert.subject +
      R"(,"incident":")" + alert.id + R"(","summary":")" + alert.summary +
      R"(","cause":{"name":"input_wait","coverage":0.9,"explanation":"It waited."},)"
      R"("evidence":{"n": 3},"next":"Add workers.","runbook":"/docs/rules/)" +
      alert.rule + R"("})";
  return std::make_shared<const PublishedAlert>(PublishedAlert{
      alert.seq, alert.id, alert.rule, alert.severity,
      alert.firing ? Alert::State::firing : Alert::State::resolved, json, alert.part});
}

inline NotifiedAlertPtr notified(const TestAlert& alert) {
  auto made = notified_alert(published_alert(alert));
  if (!made) throw std::runtime_error(made.error().message);
  return *made;
}

}  // namespace trainwatch
