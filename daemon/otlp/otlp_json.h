// SPDX-License-Identifier: Apache-2.0
// What requests of OTLP have in common, in its JSON encoding: 64-bit integers are strings, numbers
// that JSON lacks are "NaN" and "Infinity".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainwatch/json_writer.h"
#include "trainwatch/time.h"

namespace trainwatch {

// Who sends: attributes by OpenTelemetry's conventions ("service.name", "host.name").
using OtlpResource = std::vector<std::pair<std::string, std::string>>;

// That of this process. `instance` tells daemons of one host apart.
OtlpResource otlp_resource(std::string_view instance);

// "key": the integer, as a string.
void write_int64(JsonWriter& json, std::string_view key, std::uint64_t value);
// "key": the nanoseconds since the epoch, as a string.
void write_time_ns(JsonWriter& json, std::string_view key, Time time);
void write_double(JsonWriter& json, std::string_view key, double value);
// One member of "attributes".
void write_attribute(JsonWriter& json, std::string_view key, std::string_view value);
// "resource" and the beginning of the member `scopes`, up to and including "scope".
void begin_scope(JsonWriter& json, const OtlpResource& resource, std::string_view scopes);

}  // namespace trainwatch
