// SPDX-License-Identifier: Apache-2.0
#include "daemon/net/http_routes.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>

#include "daemon/net/accept.h"
#include "daemon/net/alerts_response.h"
#include "daemon/net/asset_response.h"
#include "daemon/net/documents.h"
#include "daemon/net/metrics_page.h"
#include "daemon/net/process_metrics.h"
#include "daemon/net/stream_protocol.h"
#include "daemon/net/url.h"

namespace trainwatch {
namespace {

// The answer to one question to a source of data.
template <class Source, class Query>
class SourceResponse final : public DeferredResponse,
                             public std::enable_shared_from_this<SourceResponse<Source, Query>> {
 public:
  using Patience = std::chrono::milliseconds HttpLimits::*;

  // `source` must outlive it.
  SourceResponse(const Source& source, Query query, Patience patience = &HttpLimits::answer)
      : source_(source), query_(std::move(query)), patience_(patience) {}

  void later(Done done) override {
    done_ = std::move(done);
    source_(query_, [weak = this->weak_from_this()](HttpResponse response) {
      if (const auto self = weak.lock()) self->done_(std::move(response));
    });
  }
  std::chrono::milliseconds patience(const HttpLimits& limits) const override {
    return limits.*patience_;
  }

 private:
  const Source& source_;
  Query query_;
  Patience patience_;
  Done done_;
};

using Show = HttpResponse (*)(NetState&, const HttpRequest&);

// What a new snapshot says; if it takes too long, what the latest says.
class FreshResponse final : public DeferredResponse,
                            public std::enable_shared_from_this<FreshResponse> {
 public:
  // `net` must outlive it.
  FreshResponse(NetState& net, HttpRequest request, Show show)
      : net_(net), request_(std::move(request)), show_(show) {}

  void later(Done done) override {
    done_ = std::move(done);
    net_.sources.refresh([weak = this->weak_from_this()] {
      if (const auto self = weak.lock()) self->done_(self->instead());
    });
  }
  std::chrono::milliseconds patience(const HttpLimits& limits) const override {
    return limits.refresh;
  }
  HttpResponse instead() override { return show_(net_, request_); }

 private:
  NetState& net_;
  HttpRequest request_;
  Show show_;
  Done done_;
};

// Where nobody has looked for a while, the snapshot is some seconds old.
template <Show show>
Answer fresh(NetState& net, const HttpRequest& request) {
  if (net.is_fresh()) return show(net, request);
  return std::make_shared<FreshResponse>(net, request, show);
}

HttpResponse text(int status, std::string body) {
  return {.status = status,
          .content_type = "text/plain; charset=utf-8",
          .body = std::move(body),
          .headers = {}};
}

Answer asset(NetState&, const HttpRequest& request) {
  return asset_response(request);
}

Answer document(NetState&, const HttpRequest& request) {
  return document_response(request);
}

HttpResponse metrics(NetState& net, const HttpRequest& request) {
  const auto format = negotiate(request.header("Accept"));
  HttpResponse response;
  response.content_type = content_type(format);
  std::vector<FamilyList> families;
  if (net.snapshot && net.snapshot->job_metrics) families.emplace_back(*net.snapshot->job_metrics);
  if (net.snapshot) families.emplace_back(net.snapshot->metrics);
  const bool gzip = accepts_gzip(request.header("Accept-Encoding"));
  response.shared_body = net.pages.page(format, gzip, std::chrono::steady_clock::now(), families,
                                        [&net] { return own_families(net); });
  if (gzip) response.headers.emplace_back("Content-Encoding", "gzip");
  response.headers.emplace_back("Vary", "Accept, Accept-Encoding");
  return response;
}

Answer healthy(NetState&, const HttpRequest&) {
  return text(200, "healthy\n");
}

Answer ready(NetState& net, const HttpRequest&) {
  if (net.snapshot && net.snapshot->ready) return text(200, "ready\n");
  return text(503, "not ready: the first scan is not complete\n");
}

HttpResponse status(NetState& net, const HttpRequest&) {
  HttpResponse response;
  response.body = net.snapshot ? net.snapshot->status_json : R"({"ready":false})";
  response.body += '\n';
  return response;
}

HttpResponse runs(NetState& net, const HttpRequest&) {
  HttpResponse response;
  if (net.snapshot) {
    response.body = net.snapshot->runs_json;
  } else {
    const auto now = std::chrono::time_point_cast<Nanos>(std::chrono::system_clock::now());
    response.body = R"({"now":")" + to_rfc3339(now) + R"(","monitor":"","runs":[]})";
  }
  response.body += '\n';
  return response;
}

Answer alerts(NetState& net, const HttpRequest& request) {
  auto query = parse_alert_query(request.query());
  if (!query) return error_response(400, query.error().message);
  if (const std::string unknown = unknown_rule(net.options.rules, query->filter); !unknown.empty())
    return error_response(400, unknown);
  auto waiting = std::make_shared<AlertsResponse>(net.hub, net.alert_store, std::move(*query));
  if (auto response = waiting->now()) return std::move(*response);
  return waiting;
}

constexpr std::string_view kAnalyses = "/api/v1/analyses/";

Answer analysis(NetState& net, const HttpRequest& request) {
  if (!net.sources.analyses) return error_response(404);
  const auto parameters = parse_query(request.query());
  if (!parameters) return error_response(400, parameters.error().message);
  AnalysisQuery query{std::string(request.path().substr(kAnalyses.size())), std::nullopt};
  for (const auto& [name, value] : *parameters) {
    if (name != "job") return error_response(400, invalid_parameter(name).message);
    query.job = value;
  }
  return std::make_shared<SourceResponse<AnalysisSource, AnalysisQuery>>(net.sources.analyses,
                                                                         std::move(query));
}

Answer chart(NetState& net, const HttpRequest& request) {
  if (!net.sources.charts) return error_response(404);
  auto query = parse_chart_query(request.path(), request.query());
  if (!query) return error_response(400, query.error().message);
  return std::make_shared<SourceResponse<ChartSource, ChartQuery>>(net.sources.charts,
                                                                   std::move(*query));
}

Answer trace(NetState& net, const HttpRequest& request) {
  if (!net.sources.traces) return error_response(404);
  auto query = parse_trace_query(request.path(), request.query());
  if (!query) return error_response(400, query.error().message);
  if (query->view == TraceView::alert && query->alert.empty()) return error_response(404);
  query->gzip = accepts_gzip(request.header("Accept-Encoding"));
  const bool long_lasting = query->view == TraceView::timeline;
  return std::make_shared<SourceResponse<TraceSource, TraceQuery>>(
      net.sources.traces, std::move(*query),
      long_lasting ? &HttpLimits::request : &HttpLimits::answer);
}

Answer tensors(NetState& net, const HttpRequest& request) {
  if (!net.sources.tensors) return error_response(404);
  auto query = parse_tensor_query(request.path(), request.query());
  if (!query) return error_response(400, query.error().message);
  return std::make_shared<SourceResponse<TensorSource, TensorQuery>>(net.sources.tensors,
                                                                     std::move(*query));
}

bool contains_token(std::string_view list, std::string_view token) {
  for (auto item : split_list(list)) {
    item.erase(0, item.find_first_not_of(" \t"));
    item.erase(item.find_last_not_of(" \t") + 1);
    if (equals_ignoring_case(item, token)) return true;
  }
  return false;
}

// 16 bytes in base64 (RFC 6455, 4.2.1).
bool is_websocket_key(std::string_view key) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  return key.size() == 24 && key.ends_with("==") &&
         key.find_first_not_of(kDigits) == key.size() - 2;
}

HttpResponse upgrade_required() {
  auto response = error_response(426);
  response.headers.emplace_back("Upgrade", "websocket");
  response.headers.emplace_back("Sec-WebSocket-Version", "13");
  return response;
}

// Everything that the WebSocket library would refuse is refused here, in our own words.
Answer stream(NetState& net, const HttpRequest& request) {
  const bool upgrade = request.method == "GET" && request.version == 11 &&
                       contains_token(request.header("Upgrade"), "websocket") &&
                       contains_token(request.header("Connection"), "upgrade");
  if (!upgrade || request.header("Sec-WebSocket-Version") != "13") return upgrade_required();
  const bool one_key =
      request.count("Sec-WebSocket-Key") == 1 && request.count("Sec-WebSocket-Version") == 1;
  if (!one_key || !is_websocket_key(request.header("Sec-WebSocket-Key")))
    return error_response(400, "Sec-WebSocket-Key must be 16 bytes in base64");
  if (!net.guard.origin_allowed(request, net.access->needs_login())) return error_response(403);
  const auto subscription = subscription_from_query(request.query());
  if (!subscription) return error_response(400, subscription.error().message);
  if (const std::string unknown = unknown_rule(net.options.rules, subscription->filter);
      !unknown.empty())
    return error_response(400, unknown);
  if (net.closing || net.sessions.size() >= net.options.limits.ws.subscribers) {
    net.counters.hit(Limit::subscribers);
    return error_response(503);
  }
  return HttpResponse{.status = 101, .body = "", .headers = {}};
}

bool comes_from_elsewhere(const NetState& net, const HttpRequest& request) {
  return request.count("Origin") > 0 && !net.guard.origin_allowed(request);
}

HttpResponse from_elsewhere() {
  return error_response(403, "requests from pages of other sites are refused");
}

Answer reload(NetState& net, const HttpRequest& request) {
  if (request.method != "POST") {
    auto response = error_response(405);
    response.headers.emplace_back("Allow", "POST");
    return response;
  }
  if (!net.sources.reload) {
    return error_response(403,
                          "reloading over HTTP is switched off: start trainwatch with "
                          "--web.enable-lifecycle (web.enable_lifecycle: true)");
  }
  if (comes_from_elsewhere(net, request)) return from_elsewhere();
  const Status reloaded = net.sources.reload();
  return reloaded ? text(200, "reloaded\n") : error_response(500, reloaded.error().message);
}

// Everybody may read; who may change is up to the configuration, and no page of another site may.
Answer silences(NetState& net, const HttpRequest& request) {
  if (!net.sources.silences) return error_response(404);
  const bool changes = request.method == "POST" || request.method == "DELETE";
  if (!changes) return net.sources.silences(request);
  if (!net.sources.may_change) {
    return error_response(403,
                          "setting silences is switched off: start trainwatch with "
                          "--web.enable-admin-api (web.enable_admin_api: true)");
  }
  if (comes_from_elsewhere(net, request)) return from_elsewhere();
  const std::string_view type = request.header("Content-Type");
  if (request.method == "POST" &&
      !equals_ignoring_case(type.substr(0, type.find(';')), "application/json")) {
    return error_response(415, "Content-Type must be application/json");
  }
  return net.sources.silences(request);
}

struct Route {
  std::string_view path;  // one that ends in '/' covers everything below it
  Answer (*answer)(NetState&, const HttpRequest&);
  bool vital = false;               // see is_vital()
  std::string_view more_methods{};  // besides GET and HEAD
};

constexpr Route kRoutes[] = {
    {"/", asset},
    {"/icon.svg", asset},
    {kAssets, asset},
    {"/metrics", fresh<metrics>, true},
    {"/-/healthy", healthy, true},
    {"/-/ready", ready, true},
    {"/-/reload", reload, false, "POST"},
    {"/api/v1/alerts", alerts},
    {"/api/v1/asyncapi.yaml", document},
    {kAlertTraces, trace},
    {kAnnotationsPath, trace},
    {"/api/v1/heatmap", chart},
    {"/api/v1/histogram", chart},
    {"/api/v1/openapi.yaml", document},
    {"/api/v1/runs", fresh<runs>},
    {"/api/v1/scalars", chart},
    {kSilencesPath, silences, false, "POST"},
    {"/api/v1/silences/", silences, false, "DELETE"},
    {"/api/v1/status", fresh<status>},
    {"/api/v1/steps", chart},
    {"/api/v1/stream", stream},
    {kTensorsPath, tensors},
    {kTensorValuePath, tensors},
    {kTimelinePath, trace},
    {kAnalyses, analysis},
    {"/docs", document},
    {kDocuments, document},
};

bool leads_to(const Route& route, std::string_view path) {
  const bool below = route.path.size() > 1 && route.path.ends_with('/');
  return below ? path.starts_with(route.path) : path == route.path;
}

const Route* find_route(std::string_view path) {
  const auto found = std::find_if(std::begin(kRoutes), std::end(kRoutes),
                                  [path](const Route& route) { return leads_to(route, path); });
  return found == std::end(kRoutes) ? nullptr : found;
}

}  // namespace

std::vector<MetricFamily> own_families(const NetState& net) {
  auto counters = net.counters;
  counters.connections = net.connections.size();
  counters.durable_subscribers = net.names.count();
  counters.durable_subscribers_refused = net.names.refused();
  counters.limit_hits[static_cast<std::size_t>(Limit::names)] =
      net.names.refused() + net.names.forgotten();
  std::vector<MetricFamily> families;
  add_client_limits(net.options.limits, counters, families);
  std::ranges::move(net_metrics(counters), std::back_inserter(families));
  std::ranges::move(process_metrics(), std::back_inserter(families));
  return families;
}

bool is_vital(const HttpRequest& request) {
  const Route* route = find_route(request.path());
  return route != nullptr && route->vital;
}

Answer answer(NetState& net, const HttpRequest& request) {
  if (!net.guard.host_allowed(request)) {
    return error_response(403, "the name in Host is not in web.allowed_hosts");
  }
  const Route* route = find_route(request.path());
  if (route == nullptr) return error_response(404);
  if (request.method == "GET" || request.method == "HEAD") return route->answer(net, request);
  const std::string_view more = route->more_methods;
  if (!more.empty() && request.method == more) return route->answer(net, request);
  auto response = error_response(405);
  response.headers.emplace_back("Allow",
                                "GET, HEAD" + (more.empty() ? "" : ", " + std::string(more)));
  return response;
}

}  // namespace trainwatch
