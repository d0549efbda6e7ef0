// SPDX-License-Identifier: Apache-2.0
// Who is notified of alerts, and how: an entry of `receivers` in the configuration.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/http_client/http_credentials.h"
#include "daemon/http_client/tls_client_config.h"
#include "trainwatch/result.h"
#include "trainwatch/time.h"
#include "trainwatch/verdict.h"

namespace trainwatch {

enum class ReceiverType : std::uint8_t { alertmanager, webhook, slack, otlp };

inline std::string_view to_string(ReceiverType type) {
  constexpr std::string_view kNames[] = {"alertmanager", "webhook", "slack", "otlp"};
  return kNames[static_cast<std::size_t>(type)];
}

struct ReceiverConfig {
  std::string name;  // its position in the log of alerts is kept under it
  ReceiverType type = ReceiverType::webhook;
  std::string url;       // for an Alertmanager without /api/v2/alerts, for OTLP without /v1/...
  std::string url_file;  // read at the start and on reload, where the URL is a secret
  Severity min_severity = Severity::info;
  Nanos resend = std::chrono::minutes(1);     // Alertmanager: firing alerts are sent again
  Nanos interval = std::chrono::seconds(15);  // OTLP: metrics are pushed; zero: never
  HttpCredentials credentials;
  TlsClientConfig tls;

  bool operator==(const ReceiverConfig&) const = default;
};

inline constexpr std::size_t kMostReceivers = 32;

// The files that it names.
std::vector<std::string> files_of(const ReceiverConfig& config);

// A receiver that cannot work: nothing to send to, or two ways to log in. Reads no file.
Status check_receiver(const ReceiverConfig& config);

}  // namespace trainwatch
