#include "pipeline/analysis/catalog.h"

#include <array>

namespace trainwatch {

extern const AnalysisSpec job_statistics_spec;
extern const AnalysisSpec step_statistics_spec;
extern const AnalysisSpec utilization_stats_spec;
extern const AnalysisSpec device_usage_stats_spec;

AnalysisCatalog analysis_catalog() {
  static constexpr std::array kCatalog = {
      &job_statistics_spec,
      &step_statistics_spec,
      &utilization_stats_spec,
      &device_usage_stats_spec,
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
