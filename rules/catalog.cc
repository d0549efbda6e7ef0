#include "rules/catalog.h"

#include <algorithm>

namespace trainwatch {

const RuleSpec& step_spike_rule();
const RuleSpec& cpu_bottleneck_rule();
const RuleSpec& getnext_outlier_rule();
const RuleSpec& low_gpu_utilization_rule();
const RuleSpec& input_bound_rule();
const RuleSpec& gpu_idle_rule();
const RuleSpec& host_bound_rule();
const RuleSpec& kernel_launch_bound_rule();
const RuleSpec& communication_bound_rule();
const RuleSpec& low_overlap_rule();
const RuleSpec& straggler_rule();
const RuleSpec& io_bottleneck_rule();
const RuleSpec& batch_size_rule();
const RuleSpec& gpu_memory_increase_rule();
const RuleSpec& load_balancing_rule();
const RuleSpec& step_outlier_rule();
const RuleSpec& max_initialization_time_rule();
const RuleSpec& dataloader_rule();
const RuleSpec& overall_system_usage_rule();
const RuleSpec& overall_framework_metrics_rule();

const std::vector<const RuleSpec*>& rule_catalog() {
  static const std::vector<const RuleSpec*> catalog = {
      &step_spike_rule(),
      &cpu_bottleneck_rule(),
      &getnext_outlier_rule(),
      &low_gpu_utilization_rule(),
      &input_bound_rule(),
      &gpu_idle_rule(),
      &host_bound_rule(),
      &kernel_launch_bound_rule(),
      &communication_bound_rule(),
      &low_overlap_rule(),
      &straggler_rule(),
      &io_bottleneck_rule(),
      &batch_size_rule(),
      &gpu_memory_increase_rule(),
      &load_balancing_rule(),
      &step_outlier_rule(),
      &max_initialization_time_rule(),
      &dataloader_rule(),
      &overall_system_usage_rule(),
      &overall_framework_metrics_rule(),
  };
  return catalog;
}

const RuleSpec* find_rule(std::string_view id) {
  const auto& all = rule_catalog();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const RuleSpec* spec) { return spec->id == id; });
  return found == all.end() ? nullptr : *found;
}

}  // namespace trainwatch
