#include "pipeline/analysis/catalog.h"

#include <array>

namespace trainwatch {

extern const AnalysisSpec job_statistics_spec;
extern const AnalysisSpec step_statistics_spec;
extern const AnalysisSpec utilization_stats_spec;
extern const AnalysisSpec device_usage_stats_spec;
extern const AnalysisSpec training_phase_intervals_spec;
extern const AnalysisSpec metrics_histogram_spec;
extern const AnalysisSpec step_histogram_spec;
extern const AnalysisSpec step_timeline_spec;
extern const AnalysisSpec heatmap_spec;
extern const AnalysisSpec dataloader_getnext_spec;
extern const AnalysisSpec dataloader_workers_spec;
extern const AnalysisSpec dataloader_initialization_spec;
extern const AnalysisSpec batchtime_spec;
extern const AnalysisSpec tf_getnext_per_step_spec;
extern const AnalysisSpec overall_system_usage_spec;
extern const AnalysisSpec overall_framework_metrics_spec;
extern const AnalysisSpec time_annotations_spec;
extern const AnalysisSpec profiler_steps_spec;
extern const AnalysisSpec temporal_breakdown_spec;
extern const AnalysisSpec idle_time_breakdown_spec;
extern const AnalysisSpec comm_comp_overlap_spec;
extern const AnalysisSpec gpu_kernel_breakdown_spec;
extern const AnalysisSpec cuda_kernel_launch_stats_spec;
extern const AnalysisSpec queue_length_summary_spec;
extern const AnalysisSpec memory_bw_summary_spec;
extern const AnalysisSpec user_annotation_breakdown_spec;
extern const AnalysisSpec stragglers_spec;
extern const AnalysisSpec frequent_kernel_sequences_spec;
extern const AnalysisSpec critical_path_spec;

AnalysisCatalog analysis_catalog() {
  static constexpr std::array kCatalog = {
      &job_statistics_spec,
      &step_statistics_spec,
      &utilization_stats_spec,
      &device_usage_stats_spec,
      &training_phase_intervals_spec,
      &metrics_histogram_spec,
      &step_histogram_spec,
      &step_timeline_spec,
      &heatmap_spec,
      &dataloader_getnext_spec,
      &dataloader_workers_spec,
      &dataloader_initialization_spec,
      &batchtime_spec,
      &tf_getnext_per_step_spec,
      &overall_system_usage_spec,
      &overall_framework_metrics_spec,
      &time_annotations_spec,
      &profiler_steps_spec,
      &temporal_breakdown_spec,
      &idle_time_breakdown_spec,
      &comm_comp_overlap_spec,
      &gpu_kernel_breakdown_spec,
      &cuda_kernel_launch_stats_spec,
      &queue_length_summary_spec,
      &memory_bw_summary_spec,
      &user_annotation_breakdown_spec,
      &stragglers_spec,
      &frequent_kernel_sequences_spec,
      &critical_path_spec,
  };
  return kCatalog;
}

const AnalysisSpec* find_analysis(std::string_view name) {
  for (const AnalysisSpec* spec : analysis_catalog()) {
    if (spec->name == name) return spec;
  }
  return nullptr;
}

}  // namespace trainwatch
