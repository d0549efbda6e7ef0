// SPDX-License-Identifier: Apache-2.0
#include "daemon/notify/silence_api.h"

#include "daemon/net/engine_client.h"
#include "daemon/notify/silence_json.h"
#include "trainwatch/json_writer.h"

namespace trainwatch {
namespace {

HttpResponse create(SilenceBook& silences, const HttpRequest& request, Time now) {
  auto wanted = parse_silence(request.body, now);
  if (!wanted) return error_response(400, wanted.error().message);
  if (!wanted->id.empty()) return error_response(400, "id: is chosen by trainwatch");
  const auto added = silences.add(std::move(*wanted), now);
  if (!added) return error_response(400, added.error().message);
  JsonWriter json;
  write_silence(json, *added);
  return {.status = 201, .body = json.take() + "\n", .headers = {}};
}

}  // namespace

HttpResponse answer_silences(SilenceBook& silences, const HttpRequest& request, Time now) {
  const std::string_view path = request.path();
  const std::string id(path.substr(std::min(path.size(), kSilencesPath.size() + 1)));
  if (request.method == "POST") {
    if (!id.empty()) return error_response(404);
    return create(silences, request, now);
  }
  if (request.method == "DELETE") {
    if (id.empty() || !silences.remove(id)) return error_response(404, "there is no such silence");
    return {.status = 200, .body = "{}\n", .headers = {}};
  }
  if (!id.empty()) return error_response(404);
  return {.status = 200, .body = silences.json() + "\n", .headers = {}};
}

}  // namespace trainwatch
