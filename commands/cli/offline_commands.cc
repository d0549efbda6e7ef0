// SPDX-License-Identifier: Apache-2.0
#include "commands/cli/offline_commands.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <limits>
#include <memory>
#include <utility>

#include "commands/cli/cli_flags.h"
#include "daemon/exit_code.h"
#include "pipeline/tensors/tensor_reduction.h"

namespace trainwatch {
namespace {

// HTA's names.
Status parse_steps(const std::string& text, StepSelection& out) {
  constexpr std::array kNames = {std::pair{"incl", StepSelection::included},
                                 std::pair{"default", StepSelection::without_last},
                                 std::pair{"raw", StepSelection::all}};
  for (const auto& [name, steps] : kNames) {
    if (text != name) continue;
    out = steps;
    return success();
  }
  return Error{"'" + text + "' is not one of incl|default|raw"};
}

// Arguments that the commands on finished files share; `options` outlives the parsing.
void add_paths(CLI::App& app, OfflineOptions& options) {
  app.add_option("PATH", options.paths, "Files or directory trees, finished or not")->required();
}

void add_offline_options(CLI::App& app, OfflineOptions& options) {
  add_paths(app, options);
  with_variable(app.add_flag("--progress", options.progress,
                             "Show the progress even if standard error is not a terminal"));
}

void add_output(CLI::App& app, std::string& output, const char* what) {
  with_variable(app.add_option("-o,--output", output, what))->type_name("FILE")->required();
}

void add_steps(CLI::App& app, StepSelection& steps) {
  add_checked(app, "--steps", "incl|default|raw",
              "Part of a profiler cycle: up to the last step, without it (HTA's default), or the "
              "whole file",
              [&steps](const std::string& text) { return parse_steps(text, steps); });
}

void add_job(CLI::App& app, std::optional<std::string>& job) {
  with_variable(app.add_option("--job", job, "Which job, if the configuration names several"))
      ->type_name("NAME");
}

// Once parsing is over.
Status complete(OfflineOptions& options, const ConfigFlagSet& flags) {
  const auto given = flags.flags();
  if (!given) return given.error();
  options.config_file = flags.config_file();
  options.flags = *given;
  options.err_style = style_of(STDERR_FILENO);
  options.progress = options.progress || options.err_style.rewrites;
  return success();
}

// Runs `command` with all that was given.
template <class Options>
Action offline_action(const std::shared_ptr<Options>& options,
                      const std::shared_ptr<ConfigFlagSet>& flags, const CliSession& session,
                      OfflineCommand<Options> Commands::*command) {
  return [options, flags, &session, command] {
    const Status given = complete(*options, *flags);
    if (!given) return refuse(session, given.error(), exit_code::usage);
    return (session.commands.*command)(*options, session.out, session.err);
  };
}

Status parse_unit(const std::string& text, TimelineOptions::Unit& out) {
  if (text != "time" && text != "step") return Error{"'" + text + "' is not one of time|step"};
  out = text == "time" ? TimelineOptions::Unit::time : TimelineOptions::Unit::step;
  return success();
}

Status check_window(const TimelineOptions& options) {
  if (options.counters && (options.start || options.end || !options.suffixes.empty()))
    return Error{"--counters copies whole traces: it takes no --start, --end or --suffix"};
  if (options.start && options.end && *options.start > *options.end)
    return Error{"--start is behind --end"};
  return success();
}

void add_window(CLI::App& app, TimelineOptions& options) {
  const auto add_bound = [&app](const char* name, std::optional<std::int64_t>& bound,
                                const char* what) {
    with_variable(app.add_option(name, bound, what))
        ->type_name("N")
        ->check(CLI::Range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max() / 1000));
  };
  add_bound("--start", options.start, "Only what ends at or after this time");
  add_bound("--end", options.end, "Only what begins at or before this time");
  add_checked(app, "--unit", "time|step",
              "Unit of --start and --end: microseconds since 1970 (default), or steps",
              [&options](const std::string& text) { return parse_unit(text, options.unit); });
  with_variable(app.add_option("--suffix", options.suffixes,
                               "Only files whose names end so, such as pythontimeline.json"))
      ->type_name("SUFFIX")
      ->allow_extra_args(false);
}

Status parse_mode(const std::string& text, std::optional<TensorMode>& out) {
  out = parse_tensor_mode(text);
  return out ? success() : Error{"'" + text + "' is not one of TRAIN|EVAL|PREDICT|GLOBAL"};
}

Status parse_reduction(const std::string& text, std::optional<std::string>& out) {
  out = text;
  if (is_reduction(text)) return success();
  return Error{"'" + text + "' is not one of min|max|mean|std|variance|sum|prod|l1|l2|abs_..."};
}

Status parse_tensor_format(const std::string& text, TensorsOptions::Format& out) {
  using Format = TensorsOptions::Format;
  out = text == "npy" ? Format::npy : text == "png" ? Format::png : Format::json;
  if (out != Format::json || text == "json") return success();
  return Error{"'" + text + "' is not one of json|npy|png"};
}

}  // namespace

Action define_replay(CLI::App& app, const CliSession& session) {
  auto options = std::make_shared<ReplayOptions>();
  auto flags = std::make_shared<ConfigFlagSet>(app, session.commands.catalog);
  add_offline_options(app, *options);
  flags->add_file_and_rules();
  flags->add_preset();
  add_checked(
      app, "--fail-on", "info|warning|critical",
      "Exit with 3 if an alert has this severity or a higher one",
      [options](const std::string& text) { return parse_severity(text, options->fail_on); });
  with_variable(app.add_flag("--parts", options->parts,
                             "Also print the alerts for which another one speaks"));
  auto form = std::make_shared<Form>(Form::automatic);
  add_form(app, form, "otherwise JSON");
  app.footer(
      "As JSON it prints one alert per line, in the order in which they were raised; as text each\n"
      "alert once, and what each run was doing at the end.");
  const Action run = offline_action(options, flags, session, &Commands::replay);
  return [run, options, form] {
    options->out_style = style_of(STDOUT_FILENO);
    options->text = is_text(*form, options->out_style);
    return run();
  };
}

Action define_runs(CLI::App& app, const CliSession& session) {
  auto options = std::make_shared<RunsOptions>();
  auto flags = std::make_shared<ConfigFlagSet>(app, session.commands.catalog);
  add_offline_options(app, *options);
  flags->add_file_and_rules();
  flags->add_preset();
  auto form = std::make_shared<Form>(Form::automatic);
  add_form(app, form, "otherwise JSON");
  app.footer(
      "As JSON it prints one object per run and line, as in /api/v1/runs: state, end, attempts, "
      "and\n"
      "into which parts its wall time went.");
  const Action run = offline_action(options, flags, session, &Commands::runs);
  return [run, options, form] {
    options->out_style = style_of(STDOUT_FILENO);
    options->text = is_text(*form, options->out_style);
    return run();
  };
}

Action define_analyze(CLI::App& app, const CliSession& session) {
  auto options = std::make_shared<AnalyzeOptions>();
  auto flags = std::make_shared<ConfigFlagSet>(app, session.commands.catalog);
  add_offline_options(app, *options);
  with_variable(
      app.add_option(
          "--what", options->what,
          "Analyses to run; see 'trainwatch docs analyses' and 'trainwatch docs gpu-analyses'"))
      ->type_name("NAME,NAME...")
      ->allow_extra_args(false)
      ->delimiter(',')
      ->required();
  add_job(app, options->job);
  constexpr std::int64_t kLatest = std::numeric_limits<std::int64_t>::max() / 1000;
  const auto add_time = [&app](const char* name, std::optional<std::int64_t>& time,
                               const char* what) {
    with_variable(app.add_option(name, time, what))
        ->type_name("US")
        ->check(CLI::Range(std::int64_t{0}, kLatest));
  };
  add_time("--from-us", options->from_us, "Start of the interval, in microseconds since 1970");
  add_time("--to-us", options->to_us, "End of the interval");
  add_steps(app, options->steps);
  with_variable(
      app.add_option("--operator", options->op,
                     "For frequent_kernel_sequences: only operators whose names contain this"))
      ->type_name("TEXT");
  flags->add_file();
  flags->add_preset();
  app.footer("Prints one JSON object: the result of each analysis under its name.");
  return offline_action(options, flags, session, &Commands::analyze);
}

Action define_report(CLI::App& app, const CliSession& session) {
  auto options = std::make_shared<ReportOptions>();
  auto flags = std::make_shared<ConfigFlagSet>(app, session.commands.catalog);
  add_offline_options(app, *options);
  add_output(app, options->output, "Output file; - is standard output");
  add_job(app, options->job);
  flags->add_file_and_rules();
  flags->add_preset();
  app.footer(
      "Writes one self-contained HTML page: rules and alerts, phases of the job, steps, "
      "utilisation,\n"
      "data loading and Python profiles.");
  return offline_action(options, flags, session, &Commands::report);
}

Action define_timeline(CLI::App& app, const CliSession& session) {
  auto options = std::make_shared<TimelineOptions>();
  auto flags = std::make_shared<ConfigFlagSet>(app, session.commands.catalog);
  add_offline_options(app, *options);
  add_window(app, *options);
  with_variable(app.add_flag("!--no-alerts", options->alerts, "Leave out the alerts"));
  with_variable(app.add_flag("--low-gpu", options->low_gpu,
                             "Mark the moments at which a GPU is used less than 85 percent"));
  with_variable(app.add_flag("--counters", options->counters,
                             "Only profiler traces, as they are, with counter tracks: queue "
                             "length per stream, bandwidth per kind of copy"));
  add_steps(app, options->steps);
  add_output(app, options->output,
             "Output file, compressed if it ends in .gz; - is standard output");
  flags->add_file_and_rules();
  flags->add_preset();
  app.footer(
      "Merges timelines, profiler traces, system metrics and alerts into one trace for Perfetto,\n"
      "chrome://tracing and speedscope, sorted by time.");
  return [options, flags, &session] {
    if (const Status window = check_window(*options); !window)
      return refuse(session, window.error(), exit_code::usage);
    return offline_action(options, flags, session, &Commands::timeline)();
  };
}

Action define_tensors(CLI::App& app, const CliSession& session) {
  auto options = std::make_shared<TensorsOptions>();
  auto flags = std::make_shared<ConfigFlagSet>(app, session.commands.catalog);
  add_paths(app, *options);
  with_variable(
      app.add_option("--collection", options->collection, "Only tensors of this collection"))
      ->type_name("NAME");
  with_variable(app.add_option("--regex", options->regex,
                               "Only tensors in whose name this is found (RE2's syntax)"))
      ->type_name("REGEX");
  with_variable(
      app.add_option("--step", options->step, "Only this step of --mode, or this global step"))
      ->type_name("N")
      ->check(CLI::NonNegativeNumber);
  add_checked(app, "--mode", "TRAIN|EVAL|PREDICT|GLOBAL", "Only steps of this mode",
              [options](const std::string& text) { return parse_mode(text, options->mode); });
  with_variable(app.add_option("--worker", options->worker, "Only what this worker saved"))
      ->type_name("NAME");
  add_checked(
      app, "--reduction", "min|max|mean|std|variance|sum|prod|l1|l2|abs_...",
      "One number per tensor, as saved or else computed",
      [options](const std::string& text) { return parse_reduction(text, options->reduction); });
  with_variable(app.add_option("--slice", options->slice, "Only this part of the values: 3,:,2:10"))
      ->type_name("SLICE");
  add_checked(
      app, "--format", "json|npy|png", "Values as JSON, or one tensor for numpy or as a picture",
      [options](const std::string& text) { return parse_tensor_format(text, options->format); })
      ->envname("TRAINWATCH_TENSOR_FORMAT");  // TRAINWATCH_FORMAT is text or json
  flags->add_file();
  app.footer(
      "Prints one JSON object per trial: workers, steps, names and collections. With --step,\n"
      "--regex or --reduction it prints values instead, one JSON line per tensor, step and "
      "worker.");
  return offline_action(options, flags, session, &Commands::tensors);
}

Action define_formats(CLI::App& app, const CliSession& session) {
  auto options = std::make_shared<FormatsOptions>();
  auto flags = std::make_shared<ConfigFlagSet>(app, session.commands.catalog);
  app.add_option("PATH", options->paths, "Files or directory trees. Default: list all formats");
  add_checked(app, "--format", "text|json", "Output format. Default: text",
              [options](const std::string& text) -> Status {
                if (text != "text" && text != "json") {
                  return Error{"'" + text + "' is not one of text|json"};
                }
                options->json = text == "json";
                return success();
              });
  flags->add_file();
  app.footer(
      "Says of each file which format reads it and by what it was known, how many records it\n"
      "gives and what is in the first one, or why it is skipped. As JSON one line per file.");
  return offline_action(options, flags, session, &Commands::formats);
}

}  // namespace trainwatch
