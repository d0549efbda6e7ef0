// SPDX-License-Identifier: Apache-2.0
// HTTP/1.x messages as plain values: parses and checks a request head, and serialises the head of a
// response, which may come later. No sockets; request bodies are accepted at one path only.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "daemon/net/client_limits.h"

namespace trainwatch {

class StoredBody;

struct HttpRequest {
  std::string method;
  std::string target;  // as sent: path and query
  unsigned version = 11;
  bool keep_alive = true;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body{};  // see body_size()

  std::string_view path() const;   // up to '?'
  std::string_view query() const;  // after '?'
  // The first value of the header `name` (any case); empty if absent.
  std::string_view header(std::string_view name) const;
  std::size_t count(std::string_view name) const;
};

// Where bodies are accepted, of at most so many bytes.
inline constexpr std::string_view kSilencesPath = "/api/v1/silences";
inline constexpr std::size_t kMostBodyBytes = 16384;

// Bytes of the body that follows the head of a request which parse_request() has accepted.
std::size_t body_size(const HttpRequest& request);

// Why a request is refused.
struct RequestRefusal {
  int status = 0;                // 400, 414, 431, 505
  std::optional<Limit> limit{};  // that it exceeds
};

// Parses one request head, which ends with an empty line. Refuses it if it is malformed, ambiguous,
// too large or announces a body, but for a POST to kSilencesPath.
std::variant<HttpRequest, RequestRefusal> parse_request(std::string_view head,
                                                        const HttpLimits& limits = {});

// What a client may keep of a response.
enum class Caching : std::uint8_t {
  none,        // Cache-Control: no-store
  revalidate,  // no-cache: it asks again with the ETag
  forever      // what is below this path never changes
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::shared_ptr<const std::string> shared_body = nullptr;  // if any: sent instead of `body`
  std::shared_ptr<StoredBody> stored_body = nullptr;         // if any: sent instead of both
  // In place of a security header of the same name; an empty value leaves it out.
  std::vector<std::pair<std::string, std::string>> headers;
  Caching caching = Caching::none;

  // Of the body, bytes.
  std::uint64_t content_size() const;
};

// A JSON object with the text of the status. Never repeats anything of the request.
HttpResponse error_response(int status);
HttpResponse error_response(int status, std::string_view error);

std::string_view reason_phrase(int status);

// What restricts browsers, in every response, upgrades and errors included: names and values.
std::span<const std::pair<std::string_view, std::string_view>> security_headers();

// Status line and headers, with those common to all responses, and the empty line behind them.
std::string serialize_head(const HttpResponse& response, bool keep_alive);

// ASCII case-insensitive comparison, for header names and hosts.
bool equals_ignoring_case(std::string_view a, std::string_view b);

// A response that needs another thread first. Net thread only. Dropping it abandons the request.
class DeferredResponse {
 public:
  using Done = std::function<void(HttpResponse)>;

  virtual ~DeferredResponse() = default;
  // Makes the request. `done` is called once, later; never within the call.
  virtual void later(Done done) = 0;
  // How long the client waits before it gets instead().
  virtual std::chrono::milliseconds patience(const HttpLimits& limits) const {
    return limits.answer;
  }
  // What the client gets if that was too long, or if too many wait.
  virtual HttpResponse instead() { return error_response(503); }
};

}  // namespace trainwatch
