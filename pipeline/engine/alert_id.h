// The identity of an alert: a function of configuration and file bytes, the same after a crash, on
// a replay, with other chunk sizes and from a compressed copy of the file.
#pragma once

#include <string>
#include <string_view>

#include "trainwatch/rule.h"
#include "trainwatch/subject.h"
#include "trainwatch/time.h"

namespace trainwatch {

// 32 hex digits: XXH3-128 of rule, its version, subject, key, and the event time of the verdict
// that opened the episode.
std::string alert_id(const RuleSpec& rule, const Subject& subject, std::string_view key, Time at);

}  // namespace trainwatch
