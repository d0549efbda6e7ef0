// SPDX-License-Identifier: Apache-2.0
// The alerts that one Alertmanager is sent, as its API v2 wants them: each firing one again and
// again, with an end in the near future; each that has ended for a while, as Prometheus does.
//
// Alertmanager knows an alert by its labels. Alerts with the same labels, of one rule and subject
// at the same time, are one there, which ends when the last of them does. No clock, no sockets.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/notify/delivery.h"
#include "trainwatch/time.h"

namespace trainwatch {

// "TrainwatchStepSpike" for step_spike, "TrainwatchSelfLagging" for _self/lagging.
std::string alertmanager_name(std::string_view rule);

class AlertmanagerAlerts {
 public:
  // For how long one that has ended is sent.
  static constexpr Nanos kResolvedRetention = std::chrono::minutes(15);
  // An alert that is not sent again in so many times `resend` has ended for Alertmanager.
  static constexpr int kEndsAfter = 4;

  // `base_url`: where the page is, for links; without a slash at its end.
  AlertmanagerAlerts(std::string base_url, Nanos resend)
      : base_url_(std::move(base_url)), resend_(resend) {}

  // An alert that the Alertmanager knows of, or will by the next batch.
  void fires(const NotifiedAlertPtr& alert, Severity severity, Time now);
  // Also one that it knows from before a restart, at this severity.
  void ends(const NotifiedAlertPtr& alert, Severity severity, Time now);
  // A new version of one that fires; others are ignored.
  void update(const NotifiedAlertPtr& alert);

  // Bodies for POST /api/v2/alerts with everything that is due: what is new, ended, or was not sent
  // for `resend`. At most `most` alerts in each. Empty: nothing is due.
  std::vector<std::string> due(Time now, std::size_t most);
  // What due() returned last was delivered. Forgets what has ended long ago.
  void delivered(Time now);

  std::size_t firing() const { return groups_of_.size(); }

 private:
  // Alerts with the same labels.
  struct Group {
    std::string labels;                               // JSON
    std::map<std::string, NotifiedAlertPtr> members;  // that fire, by id
    NotifiedAlertPtr shown;                           // whose words are sent
    Time started = kNoTime;
    Time ended = kNoTime;  // while no member fires
    Time sent = kNoTime;   // in its current state; kNoTime: not yet
    bool sending = false;  // in what due() returned last
  };

  void remove(const std::string& id, Time now);
  std::string object_of(const Group& group, Time now) const;

  std::string base_url_;
  Nanos resend_;
  std::map<std::string, Group> groups_;           // by their labels
  std::map<std::string, std::string> groups_of_;  // labels by alert id
};

}  // namespace trainwatch
