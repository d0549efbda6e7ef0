// SPDX-License-Identifier: Apache-2.0
// The words and bodies of notifications, for people and for webhooks.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "daemon/notify/delivery.h"

namespace trainwatch {

// Cause and what to do, a sentence or two.
std::string description_of(const NotifiedAlert& alert);

// At most `bytes` of it, cut between two characters and marked with "…".
std::string shortened(std::string text, std::size_t bytes);

// The body of a generic webhook: {"version":"1","receiver":…,"status":"firing"|"resolved",
// "externalURL":…,"alerts":[the alert]}, as those who read Alertmanager's webhooks expect it, with
// exactly one alert.
std::string webhook_body(const Notification& notification, std::string_view receiver,
                         std::string_view base_url);

// The body of an incoming webhook of Slack, which Mattermost and others understand as well.
std::string slack_body(const Notification& notification, std::string_view base_url);

}  // namespace trainwatch
