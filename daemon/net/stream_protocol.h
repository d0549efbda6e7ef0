// SPDX-License-Identifier: Apache-2.0
// The messages of the WebSocket protocol trainwatch.v1.json: what a client may send, and the frames
// of the server. No sockets.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "daemon/net/alert_hub.h"
#include "daemon/net/http_message.h"
#include "trainwatch/result.h"

namespace trainwatch {

inline constexpr std::string_view kStreamProtocol = "trainwatch.v1.json";
// Whether a client offers it. `offered` is its Sec-WebSocket-Protocol.
bool offers_stream_protocol(std::string_view offered);

// What a client subscribes to. The default applies to a client that asks for nothing.
struct Subscription {
  bool alerts = true;
  bool steps = false;
  bool status = false;
  bool tensors = false;
  AlertFilter filter{};
  std::optional<std::uint64_t> after{};  // only with a position to resume from
  std::string epoch{};                   // known to the client; empty: the current one
  std::string name{};                    // of a subscriber whose acknowledgements are kept
};

// From the query of the upgrade: after, epoch, name, rules (or rule), min_severity, streams; lists
// are separated by commas. Fails, without repeating any of the query, if a parameter is unknown or
// its value is not allowed.
Result<Subscription> subscription_from_query(std::string_view query);

// What to say about the first rule that `filter` names and `known` lacks; empty if there is none.
// Alerts of trainwatch about itself ("_self/...") have no rule. `known` may be empty: any will do.
std::string unknown_rule(const std::vector<std::string>& known, const AlertFilter& filter);

struct Ack {
  std::uint64_t seq;
};
struct Refusal {
  std::string message;  // for the client; repeats nothing it sent
};
struct NotJson {};

using ClientMessage = std::variant<Subscription, Ack, Refusal, NotJson>;

ClientMessage parse_client_message(std::string_view text);

// One text message in two parts, so that an alert's JSON is never copied. `owner` keeps it alive.
struct Frame {
  std::string_view head;
  std::string_view body;
  std::shared_ptr<const void> owner;

  std::string text() const { return std::string(head).append(body); }
};

Frame hello_frame(const AlertHub& hub);
Frame alert_frame(const PublishedAlertPtr& alert);  // its JSON is an object with fields
// The same with "provisional":true, for an alert that is not stored and has no number.
Frame provisional_frame(const PublishedAlertPtr& alert);
Frame gap_frame(std::uint64_t from, std::uint64_t to);
Frame reset_frame(std::string_view epoch);
Frame heartbeat_frame(double lag_seconds);
Frame error_frame(std::string_view message);
// The fields of /api/v1/runs and of the status. `snapshot` must have both.
Frame status_frame(const std::shared_ptr<const Snapshot>& snapshot);
// The steps of `snapshot`, which must have some, and how many others were dropped before them.
Frame step_frame(const std::shared_ptr<const Snapshot>& snapshot, std::uint64_t dropped);

// What trials of SageMaker Debugger have saved since the frame before.
struct TensorNews {
  std::string json;         // {"trials":[…]}
  std::uint64_t steps = 0;  // how many it contains
};
// The same, and how many other steps were dropped before them.
Frame tensor_frame(const std::shared_ptr<const TensorNews>& news, std::uint64_t dropped);

std::optional<Severity> severity_from(std::string_view name);
std::optional<Alert::State> alert_state_from(std::string_view name);

}  // namespace trainwatch
