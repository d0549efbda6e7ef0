// SPDX-License-Identifier: Apache-2.0
// What the page asks for, answered for a job whose files were read to their ends: the page in a
// report is drawn from this, by the same code as the live page (daemon/web/src/embedded_source.js).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "pipeline/engine/engine.h"
#include "pipeline/engine/ingest.h"
#include "trainwatch/alert.h"
#include "trainwatch/figures.h"

namespace trainwatch {

struct RecordedJob {
  const Engine& engine;
  const Ingest& ingest;
  const std::string& job;
  const std::vector<Alert>& alerts;  // the latest version of each
  const Figures& results;            // of analyses, by name
};

// Alerts beyond these, the least important ones, are left out.
inline constexpr std::size_t kMostRecordedAlerts = 1000;

// A JSON object: path and query of each question, and the body of the response.
std::string recorded_answers(const RecordedJob& recorded, const std::string& version);

}  // namespace trainwatch
