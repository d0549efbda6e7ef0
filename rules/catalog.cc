// SPDX-License-Identifier: Apache-2.0
#include "rules/catalog.h"

#include <algorithm>

namespace trainwatch {

// clang-format off
namespace step_spike { const RuleSpec& rule(); }
namespace cpu_bottleneck { const RuleSpec& rule(); }
namespace evaluation_growth { const RuleSpec& rule(); }
namespace getnext_outlier { const RuleSpec& rule(); }
namespace low_gpu_utilization { const RuleSpec& rule(); }
namespace input_bound { const RuleSpec& rule(); }
namespace gpu_idle { const RuleSpec& rule(); }
namespace host_bound { const RuleSpec& rule(); }
namespace kernel_launch_bound { const RuleSpec& rule(); }
namespace copy_bound { const RuleSpec& rule(); }
namespace communication_bound { const RuleSpec& rule(); }
namespace low_overlap { const RuleSpec& rule(); }
namespace straggler { const RuleSpec& rule(); }
namespace throughput_regression { const RuleSpec& rule(); }
namespace stall { const RuleSpec& rule(); }
namespace collective_hang { const RuleSpec& rule(); }
namespace run_failed { const RuleSpec& rule(); }
namespace gpu_error { const RuleSpec& rule(); }
namespace gpu_slowdown { const RuleSpec& rule(); }
namespace memory_creep { const RuleSpec& rule(); }
namespace loss_nan { const RuleSpec& rule(); }
namespace loss_spike { const RuleSpec& rule(); }
namespace exploding_tensor { const RuleSpec& rule(); }
namespace io_bottleneck { const RuleSpec& rule(); }
namespace batch_size { const RuleSpec& rule(); }
namespace gpu_memory_increase { const RuleSpec& rule(); }
namespace load_balancing { const RuleSpec& rule(); }
namespace step_outlier { const RuleSpec& rule(); }
namespace max_initialization_time { const RuleSpec& rule(); }
namespace dataloader { const RuleSpec& rule(); }
namespace vanishing_gradient { const RuleSpec& rule(); }
namespace all_zero { const RuleSpec& rule(); }
namespace tensor_variance { const RuleSpec& rule(); }
namespace unchanged_tensor { const RuleSpec& rule(); }
namespace similar_across_runs { const RuleSpec& rule(); }
namespace loss_not_decreasing { const RuleSpec& rule(); }
namespace weight_update_ratio { const RuleSpec& rule(); }
namespace overfit { const RuleSpec& rule(); }
namespace overtraining { const RuleSpec& rule(); }
namespace stalled_training { const RuleSpec& rule(); }
namespace poor_weight_initialization { const RuleSpec& rule(); }
namespace saturated_activation { const RuleSpec& rule(); }
namespace dead_relu { const RuleSpec& rule(); }
namespace class_imbalance { const RuleSpec& rule(); }
namespace confusion { const RuleSpec& rule(); }
namespace check_input_images { const RuleSpec& rule(); }
namespace nlp_sequence_ratio { const RuleSpec& rule(); }
namespace feature_importance_overweight { const RuleSpec& rule(); }
namespace tree_depth { const RuleSpec& rule(); }
namespace overall_system_usage { const RuleSpec& rule(); }
namespace overall_framework_metrics { const RuleSpec& rule(); }
// clang-format on

const std::vector<const RuleSpec*>& rule_catalog() {
  static const std::vector<const RuleSpec*> catalog = {
      &step_spike::rule(),
      &cpu_bottleneck::rule(),
      &evaluation_growth::rule(),
      &getnext_outlier::rule(),
      &low_gpu_utilization::rule(),
      &input_bound::rule(),
      &gpu_idle::rule(),
      &host_bound::rule(),
      &kernel_launch_bound::rule(),
      &copy_bound::rule(),
      &communication_bound::rule(),
      &low_overlap::rule(),
      &straggler::rule(),
      &throughput_regression::rule(),
      &stall::rule(),
      &collective_hang::rule(),
      &run_failed::rule(),
      &gpu_error::rule(),
      &gpu_slowdown::rule(),
      &memory_creep::rule(),
      &loss_nan::rule(),
      &loss_spike::rule(),
      &exploding_tensor::rule(),
      &io_bottleneck::rule(),
      &batch_size::rule(),
      &gpu_memory_increase::rule(),
      &load_balancing::rule(),
      &step_outlier::rule(),
      &max_initialization_time::rule(),
      &dataloader::rule(),
      &vanishing_gradient::rule(),
      &all_zero::rule(),
      &tensor_variance::rule(),
      &unchanged_tensor::rule(),
      &similar_across_runs::rule(),
      &loss_not_decreasing::rule(),
      &weight_update_ratio::rule(),
      &overfit::rule(),
      &overtraining::rule(),
      &stalled_training::rule(),
      &poor_weight_initialization::rule(),
      &saturated_activation::rule(),
      &dead_relu::rule(),
      &class_imbalance::rule(),
      &confusion::rule(),
      &check_input_images::rule(),
      &nlp_sequence_ratio::rule(),
      &feature_importance_overweight::rule(),
      &tree_depth::rule(),
      &overall_system_usage::rule(),
      &overall_framework_metrics::rule(),
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
