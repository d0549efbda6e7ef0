// SPDX-License-Identifier: Apache-2.0
#include "daemon/net/alerts_response.h"

#include <algorithm>
#include <utility>

#include "daemon/net/stream_protocol.h"
#include "daemon/net/url.h"
#include "trainwatch/json_writer.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMostFiring = 10'000;
constexpr std::size_t kMaxResponseBytes = 4U << 20U;

bool apply_parameter(AlertQuery& query, std::string_view name, const std::string& value) {
  if (name == "after" || name == "limit") {
    const auto number = parse_unsigned(value);
    if (!number) return false;
    if (name == "after") query.after = *number;
    if (name == "limit") query.limit = std::min<std::size_t>(*number, query.limit);
    return true;
  }
  if (name == "state") {
    query.filter.state = alert_state_from(value);
    return query.filter.state.has_value();
  }
  if (name == "parts") {
    query.filter.parts = value == "1";
    return value == "0" || value == "1";
  }
  if (name != "rule") return false;  // a misspelt filter must not return everything
  for (auto& rule : split_list(value)) query.filter.rules.push_back(std::move(rule));
  return true;
}

}  // namespace

Result<AlertQuery> parse_alert_query(std::string_view query) {
  const auto parameters = parse_query(query);
  if (!parameters) return parameters.error();
  AlertQuery result;
  for (const auto& [name, value] : *parameters) {
    if (!apply_parameter(result, name, value)) return invalid_parameter(name);
  }
  return result;
}

bool AlertsResponse::full() const {
  return found_.size() >= query_.limit || bytes_ > kMaxResponseBytes;
}

void AlertsResponse::take(const PublishedAlertPtr& alert) {
  found_.push_back(alert);
  bytes_ += alert->json.size();
}

std::optional<HttpResponse> AlertsResponse::now() {
  if (asks_for_now()) return std::nullopt;
  while (!full() && hub_.covers(query_.after)) {
    const auto alert = hub_.next(query_.after, query_.filter);
    if (!alert) return response();
    take(alert);
  }
  if (full()) return response();
  return std::nullopt;
}

void AlertsResponse::later(Done done) {
  done_ = std::move(done);
  if (!asks_for_now()) return ask();
  store_.fetch_firing(kMostFiring, [weak = weak_from_this()](AlertStoreClient::Page page) {
    const auto self = weak.lock();
    if (!self) return;
    if (!page) return self->done_(error_response(503));
    for (const auto& alert : *page) {
      if (self->full()) break;
      if (alert->seq > self->query_.after && self->query_.filter.wants(*alert)) self->take(alert);
    }
    self->done_(self->response());
  });
}

void AlertsResponse::ask() {
  store_.fetch(query_.after, kAlertPage, [weak = weak_from_this()](AlertStoreClient::Page page) {
    if (const auto self = weak.lock()) self->answered(std::move(page));
  });
}

void AlertsResponse::answered(AlertStoreClient::Page page) {
  if (!page) return done_(error_response(503));
  // The store has nothing newer: it has lost what is older than the window.
  if (page->empty()) query_.after = std::max(query_.after, hub_.window_first_seq() - 1);
  for (const auto& alert : *page) {
    if (full()) break;
    query_.after = alert->seq;
    if (query_.filter.wants(*alert)) take(alert);
  }
  if (auto complete = now()) return done_(std::move(*complete));
  ask();
}

std::uint64_t AlertsResponse::next() const {
  return asks_for_now() ? hub_.last_seq() : std::min(query_.after, hub_.last_seq());
}

HttpResponse AlertsResponse::response() const {
  JsonWriter json;
  json.begin_object()
      .field("epoch", hub_.epoch())
      .field("first_seq", hub_.first_seq())
      .field("last_seq", hub_.last_seq());
  json.key("alerts").begin_array();
  for (const auto& alert : found_) json.raw(alert->json);
  json.end_array().field("next", next()).end_object();
  HttpResponse response;
  response.body = json.take() + "\n";
  return response;
}

}  // namespace trainwatch
