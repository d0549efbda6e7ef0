// SPDX-License-Identifier: Apache-2.0
#include "daemon/otlp/otlp_json.h"

#include <unistd.h>

#include <cmath>

#include "daemon/version.h"

namespace trainwatch {
namespace {

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "";
}

}  // namespace

OtlpResource otlp_resource(std::string_view instance) {
  return {{"service.name", "trainwatch"},
          {"service.version", std::string(version())},
          {"service.instance.id", std::string(instance)},
          {"host.name", host_name()}};
}

void write_int64(JsonWriter& json, std::string_view key, std::uint64_t value) {
  json.field(key, std::to_string(value));
}

void write_time_ns(JsonWriter& json, std::string_view key, Time time) {
  json.field(key, std::to_string(to_ns(time)));
}

void write_double(JsonWriter& json, std::string_view key, double value) {
  if (std::isfinite(value)) {
    json.field(key, value);
  } else {
    json.field(key, std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
  }
}

void write_attribute(JsonWriter& json, std::string_view key, std::string_view value) {
  json.begin_object().field("key", key).key("value").begin_object();
  json.field("stringValue", value).end_object().end_object();
}

void begin_scope(JsonWriter& json, const OtlpResource& resource, std::string_view scopes) {
  json.key("resource").begin_object().key("attributes").begin_array();
  for (const auto& [key, value] : resource) {
    if (!value.empty()) write_attribute(json, key, std::string_view(value));
  }
  json.end_array().end_object().key(scopes).begin_array().begin_object();
  json.key("scope").begin_object().field("name", "trainwatch").field("version", version());
  json.end_object();
}

}  // namespace trainwatch
