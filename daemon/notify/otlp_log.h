// SPDX-License-Identifier: Apache-2.0
// Alerts as OTLP wants logs: ExportLogsServiceRequest in its JSON encoding, with one record for
// each notification, that is when an alert fires, gets worse, and ends.
#pragma once

#include <string>
#include <string_view>

#include "daemon/notify/delivery.h"
#include "daemon/otlp/otlp_json.h"

namespace trainwatch {

// The record's time is that at which the alert began, or ended; `base_url` is for the link to the
// runbook. Its body is the summary, and its attributes are named as the labels of /metrics and the
// members of the alert are.
std::string otlp_log_request(const Notification& notification, const OtlpResource& resource,
                             std::string_view base_url, Time now);

}  // namespace trainwatch
