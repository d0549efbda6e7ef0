// SPDX-License-Identifier: Apache-2.0
// What notifications and silences use of an alert, from its JSON.
#pragma once

#include <memory>
#include <string>

#include "daemon/net/alert_hub.h"
#include "daemon/terminal/shown_alert.h"
#include "trainwatch/result.h"

namespace trainwatch {

struct NotifiedAlert {
  PublishedAlertPtr published;
  ShownAlert shown;
  // The subject; empty where it does not apply.
  std::string job;
  std::string node;
  std::string rank;
  std::string ranks;  // "0-3", if it speaks for several
  std::string gpu;
  std::string evidence;  // JSON
  std::string runbook;   // a path

  const std::string& id() const { return published->id; }
  bool firing() const { return published->state == Alert::State::firing; }
  Severity severity() const { return published->severity; }  // the highest it has reached
};

using NotifiedAlertPtr = std::shared_ptr<const NotifiedAlert>;

// Fails for what is no alert, as from a store that somebody else has written.
Result<NotifiedAlertPtr> notified_alert(PublishedAlertPtr published);

}  // namespace trainwatch
