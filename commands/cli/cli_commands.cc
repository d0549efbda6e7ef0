// SPDX-License-Identifier: Apache-2.0
#include "commands/cli/cli_commands.h"

#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <ostream>
#include <utility>

#include "commands/cli/cli_flags.h"
#include "commands/cli/offline_commands.h"
#include "commands/cli/output_flags.h"
#include "commands/sample/metrics_file.h"
#include "daemon/exit_code.h"
#include "daemon/net/named_subscribers.h"
#include "daemon/version.h"

namespace trainwatch {
namespace {

bool is_pipe(int descriptor) {
  struct stat file {};
  return fstat(descriptor, &file) == 0 && S_ISFIFO(file.st_mode);
}

// Nothing where standard output is a file or the journal, and nothing was asked for.
std::optional<ConsoleOptions> console_of(Form form, const std::optional<Severity>& least) {
  ConsoleOptions console;
  console.out = style_of(STDOUT_FILENO);
  console.err = style_of(STDERR_FILENO);
  console.text = is_text(form, console.out);
  console.least = least.value_or(console.text ? Severity::warning : Severity::info);
  const bool wanted = form != Form::automatic || console.text || is_pipe(STDOUT_FILENO);
  return wanted ? std::optional(console) : std::nullopt;
}

Action define_run(CLI::App& app, const CliSession& session) {
  auto flags = std::make_shared<ConfigFlagSet>(app, session.commands.catalog);
  auto form = std::make_shared<Form>(Form::automatic);
  flags->add_watch();
  add_form(app, form, "JSON in a pipe, nothing in a file");
  const LeastSeverity least = add_least_severity(app, "warning as text, info as JSON");
  flags->add_file_and_rules();
  flags->add_settings();
  app.footer(
      "On a terminal it prints alerts and, below them, what each run is doing; the log goes to\n"
      "standard error. SIGHUP reloads the configuration; if it has a mistake, the old one stays.");
  return [flags, form, least, &session] {
    const auto given = flags->flags();
    if (!given) return refuse(session, given.error(), exit_code::usage);
    auto config = load_config(flags->config_file(), *given, session.commands.catalog);
    if (!config) return refuse(session, config.error(), exit_code::bad_config);
    if (config->watch.empty()) {
      return refuse(session, {"nothing to watch: use --watch=DIR, or `watch` in --config.file"},
                    exit_code::usage);
    }
    return session.commands.run(
        {std::move(*config), flags->config_file(), *given, console_of(*form, *least)});
  };
}

Action define_follow(CLI::App& app, const CliSession& session) {
  auto options = std::make_shared<FollowOptions>();
  app.add_option(
         "URL", options->url,
         "A running trainwatch, such as http://127.0.0.1:9797 or https://user:password@host")
      ->required();
  with_variable(app.add_option("--http.config.file", options->http_config_file,
                               "Login and TLS, as promtool and amtool take them: basic_auth, "
                               "tls_config"))
      ->type_name("FILE");
  with_variable(app.add_option("--after", options->after, "Start after this sequence number"))
      ->type_name("SEQ")
      ->check(CLI::NonNegativeNumber);
  with_variable(app.add_option("--rule", options->rule, "Only alerts of this rule"))
      ->type_name("ID");
  add_checked(app, "--name", "NAME",
              "Acknowledge printed alerts under this name, and resume there next time",
              [options](const std::string& text) -> Status {
                if (!is_subscriber_name(text)) return Error{"1 to 64 of A-Z a-z 0-9 . _ - only"};
                options->name = text;
                return success();
              });
  auto form = std::make_shared<Form>(Form::automatic);
  add_form(app, form, "otherwise JSON");
  const LeastSeverity least = add_least_severity(app, "info");
  app.footer(
      "Prints alerts, on a terminal with what each run is doing below them, and resumes by itself\n"
      "after a lost connection. A JSON line with \"provisional\":true could not be stored yet; it "
      "is\n"
      "printed again with its seq.");
  return [options, form, least, &session] {
    options->out_style = style_of(STDOUT_FILENO);
    options->err_style = style_of(STDERR_FILENO);
    options->text = is_text(*form, options->out_style);
    options->least = least->value_or(Severity::info);
    return session.commands.follow(*options);
  };
}

Action define_sample(CLI::App& app, const CliSession& session) {
  using std::chrono::hours;
  using std::chrono::milliseconds;
  auto options = std::make_shared<SampleOptions>();
  with_variable(app.add_option("--out", options->out, "The job's directory; created if missing"))
      ->type_name("DIR")
      ->required();
  add_duration(app, "--interval", options->interval, milliseconds{10}, hours{1},
               "Sampling interval. Default: 500ms");
  add_duration(app, "--duration", options->duration, Nanos{0}, hours{24 * 365},
               "Stop after this time. Default: run until SIGINT or SIGTERM");
  add_checked(app, "--node", "NAME", "Name of this machine. Default: the host name",
              [options](const std::string& text) -> Status {
                if (!is_node_name(text)) return Error{"letters, digits and '-' only"};
                options->node = text;
                return success();
              });
  with_variable(app.add_option("--pid", options->pid, "Also stop when this process ends"))
      ->type_name("PID")
      ->check(CLI::PositiveNumber);
  app.footer(
      "Writes DIR/system/incremental/<hour>/<minute>.<node>.json in SageMaker's format: CPU per\n"
      "core, memory, disk, network and pressure from /proc, the limits of the container from\n"
      "/sys/fs/cgroup, GPUs with their clocks and health through NVML if it is installed.");
  return [options, &session] { return session.commands.sample(*options, session.err); };
}

Action define_rules(CLI::App& app, const CliSession& session) {
  using Print = std::string (*)(RuleCatalog);
  static const std::map<std::string, Print> kFormats = {{"text", rules_as_text},
                                                        {"json", rules_as_json},
                                                        {"markdown", rules_as_markdown},
                                                        {"yaml", rules_as_yaml}};
  auto print = std::make_shared<Print>(rules_as_text);
  add_checked(app, "--format", "text|json|markdown|yaml", "Output format. Default: text",
              [print](const std::string& text) -> Status {
                const auto found = kFormats.find(text);
                if (found == kFormats.end()) {
                  return Error{"'" + text + "' is not one of text|json|markdown|yaml"};
                }
                *print = found->second;
                return success();
              });
  return [print, &session] {
    session.out << (*print)(session.commands.catalog) << std::flush;
    return exit_code::done;
  };
}

Action define_docs(CLI::App& app, const CliSession& session) {
  auto options = std::make_shared<DocsOptions>();
  app.add_option("NAME", options->name,
                 "One of those that it lists without a name; of a rule also the short name");
  app.footer("A running trainwatch serves the same at /docs/ and /docs/NAME.");
  return [options, &session] { return session.commands.docs(*options, session.out, session.err); };
}

Action define_check_config(CLI::App& app, const CliSession& session) {
  auto file = std::make_shared<std::string>();
  app.add_option("FILE", *file, "YAML configuration")->required();
  return [file, &session] {
    const auto config = load_config_file(*file, session.commands.catalog);
    if (!config) return refuse(session, config.error(), exit_code::bad_config);
    if (const auto access = load_access(config->web); !access) {
      return refuse(session, access.error(), exit_code::bad_config);
    }
    session.out << *file << ": ok; rules enabled: " << config->enabled_rules().size()
                << ", paths watched: " << config->watch.size() << std::endl;
    return exit_code::done;
  };
}

Action define_version(CLI::App&, const CliSession& session) {
  return [&session] {
    session.out << version_text() << std::flush;
    return exit_code::done;
  };
}

constexpr std::array kCommands = {
    CliCommand{"run", "Watch a running job: alerts and metrics over HTTP and WebSocket",
               define_run},
    CliCommand{"replay", "Print the alerts of finished files", define_replay},
    CliCommand{"runs", "Print what became of each run, and where its time went", define_runs},
    CliCommand{"analyze", "Analyse finished files and print the results", define_analyze},
    CliCommand{"report", "Write an HTML report on finished files", define_report},
    CliCommand{"timeline", "Merge all sources and alerts into one trace for Perfetto",
               define_timeline},
    CliCommand{"tensors", "Print the tensors that SageMaker Debugger saved", define_tensors},
    CliCommand{"formats", "Say what would be read from files, and why", define_formats},
    CliCommand{"follow", "Print alerts of a running trainwatch as they arrive", define_follow},
    CliCommand{"sample", "Sample host and GPU metrics into SageMaker's format", define_sample},
    CliCommand{"rules", "List the rules with their parameters", define_rules},
    CliCommand{"docs", "Print the documentation, which the program carries", define_docs},
    CliCommand{"check-config", "Check a configuration file", define_check_config},
    CliCommand{"version", "Print version, revision and compiler", define_version},
};

}  // namespace

std::span<const CliCommand> cli_commands() {
  return kCommands;
}

}  // namespace trainwatch
