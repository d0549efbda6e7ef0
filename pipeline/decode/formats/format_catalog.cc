// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/formats/format_catalog.h"

namespace trainwatch {

extern const Format end_of_job_format;
extern const Format tensorboard_format;
extern const Format trial_events_format;
extern const Format wandb_format;
extern const Format flight_recorder_format;
extern const Format nvidia_smi_format;
extern const Format console_format;
extern const Format docker_log_format;
extern const Format other_text_format;
extern const Format json_lines_format;
extern const Format csv_format;
extern const Format otlp_format;
extern const Format nccl_inspector_format;
extern const Format nvrx_cycle_format;

namespace {

Detection detect_end_of_job(const FormatClue& clue) {
  return clue.path.ends_with(".ts") ? Detection::yes : Detection::no;
}

}  // namespace

// training_job_end.ts: its presence is all that it says.
extern const Format end_of_job_format = {.name = "empty", .detect = &detect_end_of_job};

// Where two rows may know the same file, the more particular one comes first: TensorFlow's traces
// are Chrome traces of a certain path, and a timeline is any array of events that is nothing else.
// A file named like a log is one from its first byte, so its row precedes those that need more; but
// tables that are named like a log are known by their first line.
FormatTable format_catalog(const DeclaredFormats* declared) {
  static constexpr const Format* kCatalog[] = {
      &end_of_job_format,
      &nvidia_smi_format,
      &csv_format,
      &docker_log_format,
      &console_format,
      &tensorboard_format,
      &trial_events_format,
      &flight_recorder_format,
      &system_metrics_format,
      &tensorflow_trace_format,
      &chrome_trace_format,
      &timeline_format,
      &wandb_format,
      &otlp_format,
      &nccl_inspector_format,
      &nvrx_cycle_format,
      &json_lines_format,
      &other_text_format,
  };
  return {kCatalog, declared};
}

}  // namespace trainwatch
