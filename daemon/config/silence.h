// SPDX-License-Identifier: Apache-2.0
// Alerts that nobody is to be notified of for a time. They stay in the log, on the page and in the
// API.
#pragma once

#include <string>

#include "trainwatch/result.h"
#include "trainwatch/time.h"

namespace trainwatch {

// Concerns the alerts that match everything which is not empty; at least one of these is not.
struct Silence {
  std::string id{};  // of those from the API
  std::string rule{};
  std::string job{};
  std::string node{};
  std::string rank{};  // also one of an alert's several ranks
  std::string gpu{};
  Time from = kNoTime;   // kNoTime: always
  Time until = kNoTime;  // kNoTime: for ever, which only the configuration can say
  std::string comment{};

  bool active(Time now) const { return (from == kNoTime || from <= now) && !expired(now); }
  bool expired(Time now) const { return until != kNoTime && until <= now; }
};

// Fails if it would match every alert, or ends before it begins.
Status check_silence(const Silence& silence);

}  // namespace trainwatch
