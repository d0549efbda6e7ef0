// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "fuzz/fuzz_target.h"

namespace trainwatch::fuzz {

void read_system_metrics(std::string_view input);
void read_timeline(std::string_view input);
void recognise_spans(std::string_view input);
void read_kineto(std::string_view input);
void read_tensorflow(std::string_view input);
void read_tensorboard(std::string_view input);
void read_trial_events(std::string_view input);
void read_wandb(std::string_view input);
void read_flight_recorder(std::string_view input);
void read_watchdog_lines(std::string_view input);
void inflate_gzip(std::string_view input);
void read_numbers(std::string_view input);
void read_path(std::string_view input);
void read_python_profiles(std::string_view input);
void intern_names(std::string_view input);
void resume_reading(std::string_view input);
void load_damaged_state(std::string_view input);
void read_configuration(std::string_view input);
void set_rule_parameters(std::string_view input);
void serve_http(std::string_view input);
void serve_frames(std::string_view input);
void apply_stream_messages(std::string_view input);
void render_metrics(std::string_view input);
void read_web_config(std::string_view input);

std::span<const FuzzTarget> fuzz_targets() {
  static constexpr std::array kTargets = {
      FuzzTarget{.name = "system_metrics", .run = read_system_metrics},
      FuzzTarget{.name = "timeline", .run = read_timeline},
      FuzzTarget{.name = "recurring_spans", .run = recognise_spans},
      FuzzTarget{.name = "kineto", .run = read_kineto},
      FuzzTarget{.name = "tensorflow", .run = read_tensorflow},
      FuzzTarget{.name = "tensorboard", .run = read_tensorboard},
      FuzzTarget{.name = "trial_events", .run = read_trial_events},
      FuzzTarget{.name = "wandb", .run = read_wandb},
      FuzzTarget{.name = "flight_recorder", .run = read_flight_recorder},
      FuzzTarget{.name = "watchdog_line", .run = read_watchdog_lines},
      FuzzTarget{.name = "gzip_stream", .run = inflate_gzip, .max_bytes = 512},
      FuzzTarget{.name = "decimal_time", .run = read_numbers, .max_bytes = 64},
      FuzzTarget{.name = "path_metadata", .run = read_path, .max_bytes = 256},
      FuzzTarget{.name = "python_profiles", .run = read_python_profiles},
      FuzzTarget{.name = "names", .run = intern_names},
      FuzzTarget{.name = "resume_decision", .run = resume_reading, .max_bytes = 256},
      FuzzTarget{.name = "state_load", .run = load_damaged_state, .max_bytes = 512},
      FuzzTarget{.name = "configuration", .run = read_configuration},
      FuzzTarget{.name = "rule_parameters", .run = set_rule_parameters, .max_bytes = 512},
      FuzzTarget{.name = "http_request", .run = serve_http},
      FuzzTarget{.name = "ws_frames", .run = serve_frames},
      FuzzTarget{.name = "stream_messages", .run = apply_stream_messages},
      FuzzTarget{.name = "metrics_text", .run = render_metrics},
      FuzzTarget{.name = "web_config", .run = read_web_config},
  };
  return kTargets;
}

const FuzzTarget* find_fuzz_target(std::string_view name) {
  const auto targets = fuzz_targets();
  const auto found = std::ranges::find(targets, name, &FuzzTarget::name);
  return found == targets.end() ? nullptr : &*found;
}

}  // namespace trainwatch::fuzz
