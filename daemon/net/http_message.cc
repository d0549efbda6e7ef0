// SPDX-License-Identifier: Apache-2.0
#include "daemon/net/http_message.h"

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <charconv>
#include <ctime>

#include "daemon/net/stored_body.h"
#include "trainwatch/json_writer.h"

namespace trainwatch {
namespace {

namespace http = boost::beast::http;

struct StatusText {
  int status;
  std::string_view text;
};

constexpr StatusText kStatusTexts[] = {
    {200, "OK"},
    {201, "Created"},
    {301, "Moved Permanently"},
    {304, "Not Modified"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {413, "Content Too Large"},
    {415, "Unsupported Media Type"},
    {414, "URI Too Long"},
    {426, "Upgrade Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {503, "Service Unavailable"},
    {505, "HTTP Version Not Supported"},
};

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Beast accepts continuation lines and joins them. Two parsers must not read one message
// differently, so they are refused, as is a line that ends without CR.
bool well_formed_lines(std::string_view head) {
  for (std::size_t i = 0; i < head.size(); ++i) {
    if (head[i] == '\0') return false;
    if (head[i] != '\n') continue;
    if (i == 0 || head[i - 1] != '\r') return false;
    if (i + 1 < head.size() && (head[i + 1] == ' ' || head[i + 1] == '\t')) return false;
  }
  return true;
}

bool announces_body(const HttpRequest& request) {
  if (request.count("Transfer-Encoding") > 0) return true;
  const auto lengths = request.count("Content-Length");
  return lengths > 1 || (lengths == 1 && request.header("Content-Length") != "0");
}

// One length and nothing else: two parsers must not see two bodies.
bool has_plain_length(const HttpRequest& request) {
  const std::string_view length = request.header("Content-Length");
  return request.count("Transfer-Encoding") == 0 && request.count("Content-Length") == 1 &&
         length.size() <= 9 && length.find_first_not_of("0123456789") == std::string_view::npos;
}

// Status 0: it is served.
RequestRefusal refusal(const HttpRequest& request, const HttpLimits& limits) {
  if (request.target.size() > limits.target_bytes) return RequestRefusal{414, Limit::target_bytes};
  if (request.headers.size() > limits.headers) return RequestRefusal{431, Limit::headers};
  for (const auto& [name, value] : request.headers) {
    if (name.size() + value.size() > limits.header_bytes) {
      return RequestRefusal{431, Limit::header_bytes};
    }
  }
  const bool takes_body = request.method == "POST" && request.path() == kSilencesPath;
  if (announces_body(request) && (!takes_body || !has_plain_length(request))) {
    return RequestRefusal{400};
  }
  if (takes_body && body_size(request) > kMostBodyBytes) return RequestRefusal{413};
  const auto hosts = request.count("Host");
  if (hosts > 1 || (hosts == 0 && request.version == 11)) return RequestRefusal{400};
  if (request.target.empty() || request.target.front() != '/') return RequestRefusal{400};
  return {};
}

std::string_view cache_control(Caching caching) {
  switch (caching) {
    case Caching::none:
      return "no-store";
    case Caching::revalidate:
      return "no-cache";
    case Caching::forever:
      return "public, max-age=31536000, immutable";
  }
  return "no-store";
}

std::string http_date() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::array<char, 40> text{};
  const auto n = std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &utc);
  return {text.data(), n};
}

bool has_header(const HttpResponse& response, std::string_view name) {
  return std::ranges::any_of(response.headers, [name](const auto& header) {
    return equals_ignoring_case(header.first, name);
  });
}

}  // namespace

std::size_t body_size(const HttpRequest& request) {
  std::size_t size = 0;
  const std::string_view length = request.header("Content-Length");
  std::from_chars(length.data(), length.data() + length.size(), size);
  return size;
}

std::string_view HttpRequest::path() const {
  return std::string_view(target).substr(0, target.find('?'));
}

std::string_view HttpRequest::query() const {
  const auto mark = target.find('?');
  return mark == std::string::npos ? std::string_view{} : std::string_view(target).substr(mark + 1);
}

std::string_view HttpRequest::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (equals_ignoring_case(key, name)) return value;
  }
  return {};
}

std::size_t HttpRequest::count(std::string_view name) const {
  return static_cast<std::size_t>(std::count_if(
      headers.begin(), headers.end(),
      [name](const auto& header) { return equals_ignoring_case(header.first, name); }));
}

std::variant<HttpRequest, RequestRefusal> parse_request(std::string_view head,
                                                        const HttpLimits& limits) {
  if (head.size() > limits.head_bytes) return RequestRefusal{431, Limit::head_bytes};
  if (!well_formed_lines(head)) return RequestRefusal{400};
  http::request_parser<http::empty_body> parser;
  parser.header_limit(static_cast<std::uint32_t>(limits.head_bytes));
  parser.body_limit(boost::none);
  boost::beast::error_code error;
  parser.put(boost::asio::buffer(head.data(), head.size()), error);
  if (error == http::error::header_limit) return RequestRefusal{431, Limit::head_bytes};
  if (error == http::error::bad_version) return RequestRefusal{505};
  if (error || !parser.is_header_done()) return RequestRefusal{400};

  const auto& message = parser.get();
  HttpRequest request;
  request.method = std::string(message.method_string());
  request.target = std::string(message.target());
  request.version = message.version();
  request.keep_alive = message.keep_alive();
  for (const auto& field : message) {
    request.headers.emplace_back(std::string(field.name_string()), std::string(field.value()));
  }
  if (const auto refused = refusal(request, limits); refused.status != 0) return refused;
  return request;
}

std::string_view reason_phrase(int status) {
  for (const auto& row : kStatusTexts) {
    if (row.status == status) return row.text;
  }
  return "Error";
}

HttpResponse error_response(int status) {
  return error_response(status, reason_phrase(status));
}

HttpResponse error_response(int status, std::string_view error) {
  JsonWriter json;
  json.begin_object().field("status", status).field("error", error).end_object();
  return {.status = status, .body = json.take() + "\n", .headers = {}};
}

std::span<const std::pair<std::string_view, std::string_view>> security_headers() {
  static constexpr std::pair<std::string_view, std::string_view> kHeaders[] = {
      {"X-Content-Type-Options", "nosniff"},
      {"Content-Security-Policy",
       "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src "
       "'self'; "
       "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
      {"Referrer-Policy", "no-referrer"},
      {"X-Frame-Options", "DENY"},
  };
  return kHeaders;
}

std::uint64_t HttpResponse::content_size() const {
  if (stored_body) return stored_body->size();
  return shared_body ? shared_body->size() : body.size();
}

std::string serialize_head(const HttpResponse& response, bool keep_alive) {
  std::string out;
  const auto header = [&out](std::string_view name, std::string_view value) {
    out.append(name).append(": ").append(value).append("\r\n");
  };
  out += "HTTP/1.1 " + std::to_string(response.status) + " ";
  out.append(reason_phrase(response.status)).append("\r\n");
  header("Date", http_date());
  header("Server", "trainwatch");
  for (const auto& [name, value] : security_headers()) {
    if (!has_header(response, name)) header(name, value);
  }
  header("Cache-Control", cache_control(response.caching));
  for (const auto& [name, value] : response.headers) {
    if (!value.empty()) header(name, value);
  }
  if (response.status != 304) {
    header("Content-Type", response.content_type);
    header("Content-Length", std::to_string(response.content_size()));
  }
  header("Connection", keep_alive ? "keep-alive" : "close");
  out += "\r\n";
  return out;
}

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace trainwatch
