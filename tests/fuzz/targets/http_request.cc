// SPDX-License-Identifier: Apache-2.0
// HTTP requests: what a client gets does not depend on how its bytes are cut, and nothing of them
// comes back as a header.
#include <string>
#include <string_view>
#include <variant>

#include "daemon/net/http_message.h"
#include "fuzz/fuzz_target.h"
#include "fuzz/server_exchange.h"

namespace trainwatch::fuzz {
namespace {

// The status lines and bodies, without the time.
std::string without_dates(std::string_view responses) {
  std::string out;
  while (!responses.empty()) {
    const auto line = responses.substr(0, responses.find("\r\n") + 2);
    responses.remove_prefix(std::min(responses.size(), line.size()));
    if (!line.starts_with("Date: ")) out += line;
    if (line.size() < 2) return out.append(responses);
  }
  return out;
}

void check_parsed(const HttpRequest& request) {
  constexpr std::string_view kNeverInside("\r\n\0", 3);
  expect(request.target.starts_with('/'), "a target is a path");
  expect(request.target.find_first_of(kNeverInside) == std::string::npos, "a target is a line");
  expect(request.count("Host") <= 1, "there is one Host");
  expect(request.count("Transfer-Encoding") == 0, "there is no body");
  for (const auto& [name, value] : request.headers) {
    expect(name.find_first_of(kNeverInside) == std::string::npos, "a name is within a line");
    expect(value.find_first_of(kNeverInside) == std::string::npos, "a value is within a line");
  }
}

}  // namespace

void serve_http(std::string_view input) {
  const auto parsed = parse_request(input);
  if (const auto* request = std::get_if<HttpRequest>(&parsed)) check_parsed(*request);

  ClientLimits limits;
  limits.ws.subscribers = 0;  // what follows an upgrade is no HTTP
  limits.http.pipelined = input.size() + 1;
  limits.http.metrics = std::chrono::hours{1};  // the same page, whenever it is read
  ServerExchange server(limits);
  const std::string whole = without_dates(server.answer(input, input.size() + 1));
  expect(whole.empty() || whole.starts_with("HTTP/1.1 "), "the answer is HTTP");
  if (input.find("/api/") != std::string_view::npos) return;  // counters of requests
  for (const std::size_t most : {1U, 7U}) {
    expect(without_dates(server.answer(input, most)) == whole,
           "the outcome does not depend on the cuts");
  }
}

}  // namespace trainwatch::fuzz
