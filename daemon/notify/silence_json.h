// SPDX-License-Identifier: Apache-2.0
// Silences as JSON, and the alerts that they match.
#pragma once

#include <string_view>

#include "daemon/config/silence.h"
#include "daemon/notify/notified_alert.h"
#include "trainwatch/json_writer.h"
#include "trainwatch/result.h"
#include "trainwatch/time.h"

namespace trainwatch {

bool matches(const Silence& silence, const NotifiedAlert& alert);

// {"id":…,"rule":…,"subject":{…},"from":…,"until":…,"comment":…}
void write_silence(JsonWriter& json, const Silence& silence);
// The same, read; `duration` ("2h") instead of `until` counts from `now`. The error names the key
// that is wrong; unknown keys are an error.
Result<Silence> parse_silence(std::string_view json, Time now);

}  // namespace trainwatch
