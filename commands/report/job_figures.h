// SPDX-License-Identifier: Apache-2.0
// What the report shows of the analyses' results. What they do not know is empty here.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainwatch/figures.h"
#include "trainwatch/result.h"

namespace trainwatch {

// Times in microseconds since 1970, durations in microseconds, shares in per cent.
struct JobPhases {
  struct Phase {
    std::optional<double> duration_us;
    std::optional<double> share;
  };
  std::string framework;
  std::optional<double> start_us;
  std::optional<double> end_us;
  std::optional<double> job_us;
  Phase initialization;
  Phase training_loop;
  Phase finalization;
};

// How long steps, or parts of them, took; one row for each name.
struct DurationRow {
  std::string name;
  std::optional<double> count;
  std::optional<double> mean_us;
  std::optional<double> min_us;
  std::optional<double> p50_us;
  std::optional<double> p95_us;
  std::optional<double> p99_us;
  std::optional<double> max_us;
};

struct UtilizationRow {
  std::string resource;
  std::string node;
  std::string dimension;
  std::string metric;
  std::optional<double> count;
  std::optional<double> mean;
  std::optional<double> min;
  std::optional<double> p50;
  std::optional<double> p95;
  std::optional<double> p99;
  std::optional<double> max;
};

// Samples of the devices of a node, by how much was used.
struct DeviceUsageRow {
  std::string type;
  std::string node;
  std::optional<double> idle;
  std::optional<double> used;
  std::optional<double> full;
};

// Calls in the loading of data. An outlier took twice the median or more.
struct CallFigures {
  struct Outlier {
    std::optional<double> start_us;
    std::optional<double> duration_us;
    std::optional<double> worker;
    std::string rank;
  };
  double count = 0;
  double median_us = 0;
  double max_us = 0;
  double outlier_count = 0;
  std::vector<Outlier> outliers;  // the longest ones, the longest first
};

struct IteratorFigures {
  std::string name;
  std::optional<bool> pin_memory;
  std::optional<double> num_workers;
  CallFigures initializations;
};

// The functions of one part of the job, as one profiler saw them.
struct ProfileFigures {
  struct Function {
    std::string file;
    std::optional<double> line;
    std::string name;
    std::optional<double> calls;  // cprofile
    std::optional<double> own_ns;
    std::optional<double> with_callees_ns;
  };
  std::string profiler;  // "cprofile", "pyinstrument"
  std::string part;      // "before_step_zero", "training_loop", "after_hook_close"
  double profiles = 0;
  std::vector<Function> functions;  // the ones that took longest
};

struct RejectedProfile {
  std::string path;
  std::string reason;
};

struct JobFigures {
  JobPhases phases_of_job;
  std::vector<DurationRow> step_phases;
  std::vector<DurationRow> step_metrics;
  std::vector<DurationRow> step_processes;
  double steps_left_out = 0;
  std::vector<UtilizationRow> utilization;  // by dimension
  std::vector<DeviceUsageRow> device_usage;
  std::vector<IteratorFigures> iterators;
  CallFigures workers;
  CallFigures getnext;
  CallFigures batches;
  std::vector<ProfileFigures> profiles;
  std::vector<RejectedProfile> rejected_profiles;
};

// Of the results by name, as job_results() gives them. An error, which is one of this program: a
// field or a column that is expected is not there.
Result<JobFigures> read_job_figures(const Figures& results);

// The analyses that read_job_figures() knows.
std::vector<std::string> analyses_in_report();

}  // namespace trainwatch
