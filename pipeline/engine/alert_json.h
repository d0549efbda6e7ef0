// SPDX-License-Identifier: Apache-2.0
// The outside view of an alert: its identity, its JSON form, the same in every output, and a digest
// of that. docs/alerts.md shows an example.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "trainwatch/alert.h"
#include "trainwatch/json_writer.h"
#include "trainwatch/rule.h"
#include "trainwatch/snapshot.h"
#include "trainwatch/subject.h"
#include "trainwatch/time.h"

namespace trainwatch {

// The identity of an alert: a function of configuration and file bytes, the same after a crash, on
// a replay, with other chunk sizes and from a compressed copy of the file. 32 hex digits: XXH3-128
// of rule, its version, subject, key, and the event time of the verdict that opened the episode.
std::string alert_id(const RuleSpec& rule, const Subject& subject, std::string_view key, Time at);

// Returns one JSON object without line breaks, as `trainwatch replay` prints it: without `seq` and
// `epoch`.
std::string to_json(const Alert& alert);
// Parses what to_json() returned, with or without a number and an epoch: to_json() of the result is
// the same text again. nullopt: `json` is not an alert.
std::optional<Alert> alert_from_json(std::string_view json);
// A digest of what to_json() returns.
std::string content_hash(std::string_view json);

// What clients may see of an alert: `json` is that of to_json(), and gets the alert's number and
// `epoch`. Without an epoch it gets neither: it is not stored yet.
PublishedAlert published(const Alert& alert, std::string json, std::string_view epoch);

// "name": an RFC 3339 time, or null for kNoTime.
void write_time(JsonWriter& json, std::string_view name, Time time);

}  // namespace trainwatch
