#include "daemon/net/http_routes.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "daemon/net/metrics_page.h"
#include "daemon/net/process_metrics.h"
#include "daemon/net/query_string.h"
#include "daemon/net/stream_protocol.h"
#include "daemon/net/web_assets.h"
#include "trainwatch/json_writer.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMaxAlertsPerPage = 1000;
constexpr std::size_t kMaxPageBytes = 4U << 20U;

HttpReply text(int status, std::string body) {
  return {.status = status,
          .content_type = "text/plain; charset=utf-8",
          .body = std::move(body),
          .headers = {}};
}

std::string_view type_of(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
      {".html", "text/html; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},
      {".js", "text/javascript; charset=utf-8"},
      {".svg", "image/svg+xml"},
  };
  for (const auto& [ending, type] : kTypes) {
    if (name.ends_with(ending)) return type;
  }
  return "application/octet-stream";
}

HttpReply asset(const NetState&, const HttpRequest& request) {
  const auto path = request.path();
  const auto name = path == "/" ? std::string_view("index.html") : path.substr(1);
  const auto all = web_assets();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [name](const WebAsset& item) { return item.name == name; });
  if (found == all.end()) return error_reply(404);
  HttpReply reply;
  reply.cacheable = true;
  reply.headers.emplace_back("ETag", found->etag);
  reply.content_type = type_of(name);
  if (request.header("If-None-Match").find(found->etag) != std::string_view::npos) {
    reply.status = 304;
  } else {
    reply.body = found->bytes;
  }
  return reply;
}

HttpReply metrics(const NetState& net, const HttpRequest& request) {
  auto families = net_metrics(net.counters);
  std::ranges::move(process_metrics(), std::back_inserter(families));
  if (net.snapshot) {
    families.insert(families.begin(), net.snapshot->metrics.begin(), net.snapshot->metrics.end());
  }
  const auto format = negotiate(request.header("Accept"));
  HttpReply reply;
  reply.content_type = content_type(format);
  reply.body = render(format, families);
  reply.headers.emplace_back("Vary", "Accept");
  return reply;
}

HttpReply healthy(const NetState&, const HttpRequest&) {
  return text(200, "healthy\n");
}

HttpReply ready(const NetState& net, const HttpRequest&) {
  if (net.snapshot && net.snapshot->ready) return text(200, "ready\n");
  return text(503, "not ready: the first scan is not done\n");
}

HttpReply status(const NetState& net, const HttpRequest&) {
  HttpReply reply;
  reply.body = net.snapshot ? net.snapshot->status_json : R"({"ready":false})";
  reply.body += '\n';
  return reply;
}

struct AlertQuery {
  std::uint64_t after = 0;
  std::size_t limit = kMaxAlertsPerPage;
  AlertFilter filter;
};

std::optional<AlertQuery> parse_alert_query(std::string_view query) {
  const auto parameters = parse_query(query);
  if (!parameters) return std::nullopt;
  AlertQuery result;
  for (const auto& [name, value] : *parameters) {
    if (name == "after" || name == "limit") {
      const auto number = parse_unsigned(value);
      if (!number) return std::nullopt;
      if (name == "after") result.after = *number;
      if (name == "limit") result.limit = std::min<std::size_t>(*number, kMaxAlertsPerPage);
    } else if (name == "rule") {
      for (auto& rule : split_list(value)) result.filter.rules.push_back(std::move(rule));
    } else if (name == "state") {
      result.filter.state = alert_state_from(value);
      if (!result.filter.state) return std::nullopt;
    } else {
      return std::nullopt;  // a misspelt filter must not answer with everything
    }
  }
  return result;
}

HttpReply alerts(const NetState& net, const HttpRequest& request) {
  const auto query = parse_alert_query(request.query());
  if (!query) return error_reply(400);
  JsonWriter json;
  json.begin_object()
      .field("epoch", net.hub.epoch())
      .field("first_seq", net.hub.first_seq())
      .field("last_seq", net.hub.last_seq());
  json.key("alerts").begin_array();
  for (const auto& alert : net.hub.after(query->after, query->limit, query->filter)) {
    json.raw(alert->json);
    if (json.text().size() > kMaxPageBytes) break;
  }
  json.end_array().end_object();
  HttpReply reply;
  reply.body = json.take() + "\n";
  return reply;
}

bool contains_token(std::string_view list, std::string_view token) {
  for (auto item : split_list(list)) {
    item.erase(0, item.find_first_not_of(" \t"));
    item.erase(item.find_last_not_of(" \t") + 1);
    if (equals_ignoring_case(item, token)) return true;
  }
  return false;
}

HttpReply stream(const NetState& net, const HttpRequest& request) {
  const bool upgrade = request.method == "GET" && request.version == 11 &&
                       contains_token(request.header("Upgrade"), "websocket") &&
                       contains_token(request.header("Connection"), "upgrade");
  if (!upgrade) {
    auto reply = error_reply(426);
    reply.headers.emplace_back("Upgrade", "websocket");
    return reply;
  }
  if (!net.guard.origin_allowed(request)) return error_reply(403);
  if (!wishes_from_query(request.query())) return error_reply(400);
  if (net.closing || net.sessions.size() >= net.options.ws.subscribers) return error_reply(503);
  return {.status = 101, .body = "", .headers = {}};
}

struct Route {
  std::string_view path;
  HttpReply (*answer)(const NetState&, const HttpRequest&);
};

constexpr Route kRoutes[] = {
    {"/", asset},
    {"/style.css", asset},
    {"/page.js", asset},
    {"/icon.svg", asset},
    {"/metrics", metrics},
    {"/-/healthy", healthy},
    {"/-/ready", ready},
    {"/api/v1/alerts", alerts},
    {"/api/v1/status", status},
    {"/api/v1/stream", stream},
};

}  // namespace

HttpReply answer(const NetState& net, const HttpRequest& request) {
  if (!net.guard.host_allowed(request)) return error_reply(403);
  for (const Route& route : kRoutes) {
    if (route.path != request.path()) continue;
    if (request.method == "GET" || request.method == "HEAD") return route.answer(net, request);
    auto reply = error_reply(405);
    reply.headers.emplace_back("Allow", "GET, HEAD");
    return reply;
  }
  return error_reply(404);
}

}  // namespace trainwatch
