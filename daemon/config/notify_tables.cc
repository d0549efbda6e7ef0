// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/config_fields.h"
#include "daemon/config/config_table.h"
#include "daemon/net/named_subscribers.h"

namespace trainwatch {
namespace {

using namespace config_fields;

ConfigField<ReceiverConfig> name_field() {
  return {"name",
          "text",
          "",
          "Name of the receiver, under which its position in the log of alerts is kept.",
          false,
          [](ReceiverConfig& receiver, Values values) -> Status {
            if (!is_subscriber_name(values[0])) {
              return Error{"must be 1 to 64 of A-Z a-z 0-9 . _ -"};
            }
            receiver.name = values[0];
            return success();
          },
          [](const ReceiverConfig& receiver) { return receiver.name; }};
}

template <class Member>
ConfigField<Silence> time_field(std::string_view key, Member member, std::string_view help) {
  return {key,
          "time",
          "",
          help,
          false,
          [=](Silence& silence, Values values) -> Status {
            const Time time = time_from_rfc3339(values[0]);
            if (time == kNoTime) {
              return Error{"'" + values[0] + "' is not a time such as 2026-11-25T18:00:00Z"};
            }
            member(silence) = time;
            return success();
          },
          [=](const Silence& silence) {
            const Time time = member(silence);
            return time == kNoTime ? std::string() : to_rfc3339(time);
          }};
}

template <class Target, class Member>
ConfigField<Target> text_row(std::string_view key, Member member, std::string_view help) {
  return text_field<Target>(key, member, help);
}

}  // namespace

const std::vector<ConfigField<ReceiverConfig>>& receiver_table() {
  using R = ReceiverConfig;
  static const std::vector<ConfigField<R>> table = {
      name_field(),
      choice_field<R>(
          "type", [](auto& r) -> auto& { return r.type; },
          {"alertmanager", "webhook", "slack", "otlp"}, "What the receiver understands."),
      text_row<R>(
          "url", [](auto& r) -> auto& { return r.url; },
          "Where to send; of an Alertmanager without /api/v2/alerts, of an OpenTelemetry collector "
          "without /v1/metrics and /v1/logs."),
      text_row<R>(
          "url_file", [](auto& r) -> auto& { return r.url_file; },
          "File with the URL instead, where that is a secret."),
      choice_field<R>(
          "min_severity", [](auto& r) -> auto& { return r.min_severity; },
          {"info", "warning", "critical"}, "The lowest severity of which it is notified."),
      duration_field<R>(
          "resend", [](auto& r) -> auto& { return r.resend; }, std::chrono::seconds(1),
          std::chrono::hours(1), "Alertmanager: how often firing alerts are sent again."),
      duration_field<R>(
          "interval", [](auto& r) -> auto& { return r.interval; }, Nanos{0}, std::chrono::hours(1),
          "OTLP: how often metrics are pushed. 0s: alerts only."),
      text_row<R>(
          "username", [](auto& r) -> auto& { return r.credentials.username; },
          "User name of basic authentication."),
      text_row<R>(
          "password", [](auto& r) -> auto& { return r.credentials.password; }, "Its password."),
      text_row<R>(
          "password_file", [](auto& r) -> auto& { return r.credentials.password_file; },
          "File with the password."),
      text_row<R>(
          "bearer_token", [](auto& r) -> auto& { return r.credentials.bearer_token; },
          "Token for the header Authorization."),
      text_row<R>(
          "bearer_token_file", [](auto& r) -> auto& { return r.credentials.bearer_token_file; },
          "File with the token."),
      text_row<R>(
          "ca_file", [](auto& r) -> auto& { return r.tls.ca_file; },
          "Authorities to trust instead of the system's."),
      text_row<R>(
          "cert_file", [](auto& r) -> auto& { return r.tls.cert_file; },
          "Certificate of the client."),
      text_row<R>(
          "key_file", [](auto& r) -> auto& { return r.tls.key_file; }, "Its key."),
      text_row<R>(
          "server_name", [](auto& r) -> auto& { return r.tls.server_name; },
          "Name that the server's certificate must have. Default: the host of the URL."),
      boolean_field<R>(
          "insecure_skip_verify", [](auto& r) -> auto& { return r.tls.insecure_skip_verify; },
          "Accept any certificate."),
  };
  return table;
}

const std::vector<ConfigField<Silence>>& silence_table() {
  using S = Silence;
  static const std::vector<ConfigField<S>> table = {
      text_row<S>(
          "rule", [](auto& s) -> auto& { return s.rule; }, "Rule of the alerts."),
      text_row<S>(
          "job", [](auto& s) -> auto& { return s.job; }, "Their training job."),
      text_row<S>(
          "node", [](auto& s) -> auto& { return s.node; }, "Their node."),
      text_row<S>(
          "rank", [](auto& s) -> auto& { return s.rank; }, "Their rank, or one of their ranks."),
      text_row<S>(
          "gpu", [](auto& s) -> auto& { return s.gpu; }, "Their GPU."),
      time_field(
          "from", [](auto& s) -> auto& { return s.from; }, "When it begins. Default: always."),
      time_field(
          "until", [](auto& s) -> auto& { return s.until; }, "When it ends. Default: never."),
      text_row<S>(
          "comment", [](auto& s) -> auto& { return s.comment; }, "Why."),
  };
  return table;
}

}  // namespace trainwatch
