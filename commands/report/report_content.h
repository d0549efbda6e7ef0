// SPDX-License-Identifier: Apache-2.0
// Everything that a report says, as values.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "commands/report/job_figures.h"
#include "trainwatch/alert.h"
#include "trainwatch/rule.h"

namespace trainwatch {

struct SourceFigures {
  std::string path;
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::uint64_t records = 0;
  std::uint64_t read_errors = 0;
  std::vector<std::pair<std::string, std::uint64_t>> rejects;  // reason, records
};

struct RejectedRecord {
  std::string path;
  std::string reason;
  std::string beginning;
};

struct ReportContent {
  std::string program;  // "trainwatch VERSION (REVISION)"
  std::string job;      // "" where the files do not name it
  std::vector<SourceFigures> sources;
  std::map<std::string, std::uint64_t> formats;  // of how many files
  std::vector<RejectedRecord> rejected;          // some of them
  std::vector<RuleConfig> rules;                 // those that ran
  std::map<std::string, std::string> undecided;  // by rule: why it could not judge
  std::vector<std::string> rules_off;
  std::vector<Alert> alerts;  // the latest version of each
  JobFigures figures;
  Figures results;       // of the analyses, by name
  std::string headline;  // the sentence on top
  std::string answers;   // recorded_answers()
};

// One self-contained page that fetches nothing. Equal content gives equal bytes.
std::string report_page(const ReportContent& content);

}  // namespace trainwatch
