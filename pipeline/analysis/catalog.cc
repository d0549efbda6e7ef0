// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/catalog.h"

namespace trainwatch {

const AnalysisSpec& job_statistics_analysis();
const AnalysisSpec& step_statistics_analysis();
const AnalysisSpec& utilization_stats_analysis();
const AnalysisSpec& device_usage_stats_analysis();
const AnalysisSpec& training_phase_intervals_analysis();
const AnalysisSpec& metrics_histogram_analysis();
const AnalysisSpec& step_histogram_analysis();
const AnalysisSpec& step_timeline_analysis();
const AnalysisSpec& heatmap_analysis();
const AnalysisSpec& dataloader_getnext_analysis();
const AnalysisSpec& dataloader_workers_analysis();
const AnalysisSpec& dataloader_initialization_analysis();
const AnalysisSpec& batchtime_analysis();
const AnalysisSpec& tf_getnext_per_step_analysis();
const AnalysisSpec& overall_system_usage_analysis();
const AnalysisSpec& overall_framework_metrics_analysis();
const AnalysisSpec& time_annotations_analysis();
const AnalysisSpec& profiler_steps_analysis();
const AnalysisSpec& temporal_breakdown_analysis();
const AnalysisSpec& idle_time_breakdown_analysis();
const AnalysisSpec& comm_comp_overlap_analysis();
const AnalysisSpec& gpu_kernel_breakdown_analysis();
const AnalysisSpec& cuda_kernel_launch_stats_analysis();
const AnalysisSpec& queue_length_summary_analysis();
const AnalysisSpec& memory_bw_summary_analysis();
const AnalysisSpec& user_annotation_breakdown_analysis();
const AnalysisSpec& stragglers_analysis();
const AnalysisSpec& frequent_kernel_sequences_analysis();
const AnalysisSpec& critical_path_analysis();

const std::vector<const AnalysisSpec*>& analysis_catalog() {
  static const std::vector<const AnalysisSpec*> catalog = {
      &job_statistics_analysis(),
      &step_statistics_analysis(),
      &utilization_stats_analysis(),
      &device_usage_stats_analysis(),
      &training_phase_intervals_analysis(),
      &metrics_histogram_analysis(),
      &step_histogram_analysis(),
      &step_timeline_analysis(),
      &heatmap_analysis(),
      &dataloader_getnext_analysis(),
      &dataloader_workers_analysis(),
      &dataloader_initialization_analysis(),
      &batchtime_analysis(),
      &tf_getnext_per_step_analysis(),
      &overall_system_usage_analysis(),
      &overall_framework_metrics_analysis(),
      &time_annotations_analysis(),
      &profiler_steps_analysis(),
      &temporal_breakdown_analysis(),
      &idle_time_breakdown_analysis(),
      &comm_comp_overlap_analysis(),
      &gpu_kernel_breakdown_analysis(),
      &cuda_kernel_launch_stats_analysis(),
      &queue_length_summary_analysis(),
      &memory_bw_summary_analysis(),
      &user_annotation_breakdown_analysis(),
      &stragglers_analysis(),
      &frequent_kernel_sequences_analysis(),
      &critical_path_analysis(),
  };
  return catalog;
}

const AnalysisSpec* find_analysis(std::string_view name) {
  for (const AnalysisSpec* spec : analysis_catalog()) {
    if (spec->name == name) return spec;
  }
  return nullptr;
}

}  // namespace trainwatch
