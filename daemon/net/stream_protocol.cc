// SPDX-License-Identifier: Apache-2.0
#include "daemon/net/stream_protocol.h"

#include <simdjson.h>

#include <algorithm>
#include <cassert>
#include <vector>

#include "daemon/net/named_subscribers.h"
#include "daemon/net/url.h"
#include "trainwatch/json_writer.h"
#include "trainwatch/valid_text.h"

namespace trainwatch {
namespace {

namespace dom = simdjson::dom;

// An unknown stream is an error, so that a misspelt one does not go unnoticed.
bool choose_streams(Subscription& subscription, const std::vector<std::string>& names) {
  subscription.alerts = subscription.steps = false;
  subscription.status = subscription.tensors = false;
  for (const auto& name : names) {
    if (name == "alerts") {
      subscription.alerts = true;
    } else if (name == "steps") {
      subscription.steps = true;
    } else if (name == "status") {
      subscription.status = true;
    } else if (name == "tensors") {
      subscription.tensors = true;
    } else {
      return false;
    }
  }
  return true;
}

bool choose_severity(Subscription& subscription, std::string_view name) {
  const auto severity = severity_from(name);
  if (severity) subscription.filter.min_severity = *severity;
  return severity.has_value();
}

bool choose_parts(Subscription& subscription, std::string_view value) {
  subscription.filter.parts = value == "1" || value == "true";
  return subscription.filter.parts || value == "0" || value == "false";
}

bool choose_after(Subscription& subscription, std::optional<std::uint64_t> seq) {
  subscription.after = seq;
  return seq.has_value();
}

bool choose_name(Subscription& subscription, std::string_view name) {
  subscription.name = name;
  return is_subscriber_name(name);
}

bool apply_parameter(Subscription& subscription, std::string_view name, const std::string& value) {
  if (name == "after") return choose_after(subscription, parse_unsigned(value));
  if (name == "min_severity") return choose_severity(subscription, value);
  if (name == "parts") return choose_parts(subscription, value);
  if (name == "streams") return choose_streams(subscription, split_list(value));
  if (name == "name") return choose_name(subscription, value);
  if (name == "epoch") subscription.epoch = value;
  if (name == "rule" || name == "rules") {
    for (auto& rule : split_list(value)) subscription.filter.rules.push_back(std::move(rule));
  }
  return name == "epoch" || name == "rule" || name == "rules";
}

std::optional<std::vector<std::string>> strings(const dom::element& value) {
  dom::array array;
  if (value.get_array().get(array) != simdjson::SUCCESS) return std::nullopt;
  std::vector<std::string> texts;
  for (const dom::element item : array) {
    std::string_view text;
    if (item.get_string().get(text) != simdjson::SUCCESS) return std::nullopt;
    texts.emplace_back(text);
  }
  return texts;
}

std::optional<std::string> string(const dom::element& value) {
  std::string_view text;
  if (value.get_string().get(text) != simdjson::SUCCESS) return std::nullopt;
  return std::string(text);
}

std::optional<std::uint64_t> number(const dom::element& value) {
  std::uint64_t n = 0;
  if (value.get_uint64().get(n) != simdjson::SUCCESS) return std::nullopt;
  return n;
}

// False if the value of a known field is not allowed. Unknown fields are for later versions.
bool apply_field(Subscription& subscription, std::string_view name, const dom::element& value) {
  if (value.is_null()) return true;
  if (name == "after") return choose_after(subscription, number(value));
  if (name == "min_severity") return choose_severity(subscription, string(value).value_or(""));
  if (name == "name") return choose_name(subscription, string(value).value_or(""));
  if (name == "streams") {
    const auto names = strings(value);
    return names && choose_streams(subscription, *names);
  }
  if (name == "parts") {
    bool parts = false;
    if (value.get(parts) != simdjson::SUCCESS) return false;
    return choose_parts(subscription, parts ? "1" : "0");
  }
  if (name == "rules") {
    auto rules = strings(value);
    if (rules) subscription.filter.rules = std::move(*rules);
    return rules.has_value();
  }
  if (name == "epoch") {
    auto epoch = string(value);
    if (epoch) subscription.epoch = std::move(*epoch);
    return epoch.has_value();
  }
  return true;
}

// The allowed values of a field, or of a query parameter.
std::string wanted(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kWanted[] = {
      {"streams", "a list of alerts, steps, status and tensors; there is no other stream"},
      {"after", "a number"},
      {"epoch", "a string"},
      {"rules", "a list of strings"},
      {"min_severity", "info, warning or critical"},
      {"parts", "0 or 1, in a message true or false"},
      {"name", "1 to 64 of A-Z a-z 0-9 . _ -"},
  };
  for (const auto& [known, what] : kWanted) {
    if (known == name) return std::string(known).append(" is ").append(what);
  }
  return "known parameters are after, epoch, name, rules, min_severity, parts and streams";
}

ClientMessage parse_subscribe(const dom::object& object) {
  Subscription subscription;
  for (const auto [name, value] : object) {
    if (!apply_field(subscription, name, value)) return Refusal{"subscribe: " + wanted(name)};
  }
  return subscription;
}

Frame own(std::string text) {
  auto owner = std::make_shared<const std::string>(std::move(text));
  return {*owner, {}, owner};
}

// Inserts `head` before the fields of the object `json`, which `owner` keeps alive.
Frame before_fields(std::string_view head, std::string_view json,
                    std::shared_ptr<const void> owner) {
  assert(json.starts_with("{\""));
  return {head, json.substr(1), std::move(owner)};
}

// The same with a head of its own.
Frame behind(std::string head, std::string_view json, std::shared_ptr<const void> keeper) {
  struct Owner {
    std::string head;
    std::shared_ptr<const void> keeper;
  };
  const auto owner = std::make_shared<const Owner>(Owner{std::move(head), std::move(keeper)});
  return before_fields(owner->head, json, owner);
}

JsonWriter message(std::string_view op) {
  JsonWriter json;
  json.begin_object().field("op", op);
  return json;
}

}  // namespace

bool offers_stream_protocol(std::string_view offered) {
  return std::ranges::any_of(split_list(offered), [](std::string_view name) {
    name.remove_prefix(std::min(name.find_first_not_of(' '), name.size()));
    return name == kStreamProtocol;
  });
}

Result<Subscription> subscription_from_query(std::string_view query) {
  const auto parameters = parse_query(query);
  if (!parameters) return parameters.error();
  Subscription subscription;
  for (const auto& [name, value] : *parameters) {
    if (!apply_parameter(subscription, name, value)) return Error{wanted(name)};
  }
  return subscription;
}

std::string unknown_rule(const std::vector<std::string>& known, const AlertFilter& filter) {
  for (const std::string& rule : filter.rules) {
    const bool known_here = known.empty() || rule.starts_with("_self/") ||
                            std::ranges::find(known, rule) != known.end();
    if (!known_here)
      return is_valid_text(rule) ? "there is no rule '" + rule + "'" : "there is no such rule";
  }
  return {};
}

ClientMessage parse_client_message(std::string_view text) {
  dom::parser parser;
  dom::element document;
  if (parser.parse(simdjson::padded_string(text)).get(document) != simdjson::SUCCESS) {
    return NotJson{};
  }
  dom::object object;
  std::string_view op;
  if (document.get_object().get(object) != simdjson::SUCCESS ||
      object["op"].get_string().get(op) != simdjson::SUCCESS) {
    return Refusal{"a message must be an object with a field op"};
  }
  if (op == "subscribe") return parse_subscribe(object);
  if (op != "ack") return Refusal{"unknown op; known are subscribe and ack"};
  std::uint64_t seq = 0;
  if (object["seq"].get_uint64().get(seq) != simdjson::SUCCESS) {
    return Refusal{"ack: seq must be a number"};
  }
  return Ack{seq};
}

Frame hello_frame(const AlertHub& hub) {
  return own(message("hello")
                 .field("epoch", hub.epoch())
                 .field("first_seq", hub.first_seq())
                 .field("last_seq", hub.last_seq())
                 .end_object()
                 .text());
}

Frame alert_frame(const PublishedAlertPtr& alert) {
  return before_fields(R"({"op":"alert",)", alert->json, alert);
}

Frame provisional_frame(const PublishedAlertPtr& alert) {
  return before_fields(R"({"op":"alert","provisional":true,)", alert->json, alert);
}

Frame gap_frame(std::uint64_t from, std::uint64_t to) {
  return own(message("gap").field("from", from).field("to", to).end_object().text());
}

Frame reset_frame(std::string_view epoch) {
  return own(message("reset").field("epoch", epoch).end_object().text());
}

Frame heartbeat_frame(double lag_seconds) {
  return own(message("heartbeat").field("lag_seconds", lag_seconds).end_object().text());
}

Frame error_frame(std::string_view what) {
  return own(message("error").field("message", what).end_object().text());
}

Frame status_frame(const std::shared_ptr<const Snapshot>& snapshot) {
  std::string head = message("status").text() + ",";
  if (const std::string_view runs = snapshot->runs_json; runs.size() > 2)
    head.append(runs.substr(1, runs.size() - 2)).append(",");
  return behind(std::move(head), snapshot->status_json, snapshot);
}

Frame step_frame(const std::shared_ptr<const Snapshot>& snapshot, std::uint64_t dropped) {
  return behind(message("step").field("dropped", dropped).text() + ",", snapshot->steps_json,
                snapshot);
}

Frame tensor_frame(const std::shared_ptr<const TensorNews>& news, std::uint64_t dropped) {
  return behind(message("tensor").field("dropped", dropped).text() + ",", news->json, news);
}

std::optional<Severity> severity_from(std::string_view name) {
  for (const auto severity : {Severity::info, Severity::warning, Severity::critical}) {
    if (to_string(severity) == name) return severity;
  }
  return std::nullopt;
}

std::optional<Alert::State> alert_state_from(std::string_view name) {
  if (name == "firing") return Alert::State::firing;
  if (name == "resolved") return Alert::State::resolved;
  return std::nullopt;
}

}  // namespace trainwatch
