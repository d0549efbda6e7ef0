// SPDX-License-Identifier: Apache-2.0
#include "commands/cli/cli_flags.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "daemon/config/config_table.h"
#include "daemon/config/config_text.h"

namespace trainwatch {
namespace {

constexpr const char* kWatchVariable = "TRAINWATCH_WATCH";

// Like PATH: "a:b". Empty parts are skipped.
std::vector<std::string> split_paths(std::string_view text) {
  std::vector<std::string> paths;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(':'), text.size());
    if (end > 0) paths.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return paths;
}

}  // namespace

std::string environment_variable(std::string_view flag) {
  std::string name = "TRAINWATCH_";
  for (const char c : flag.substr(std::min(flag.find_first_not_of('-'), flag.size()))) {
    const bool separator = c == '.' || c == '-' || c == '_';
    name += separator ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return name;
}

CLI::Option* with_variable(CLI::Option* option) {
  return option->envname(environment_variable(option->get_name()));
}

CLI::Option* add_checked(CLI::App& app, const std::string& flag, const std::string& type,
                         const std::string& help,
                         std::function<Status(const std::string&)> accept) {
  const auto take = [flag, accept = std::move(accept)](const std::string& text) {
    if (const Status accepted = accept(text); !accepted) {
      throw CLI::ValidationError(flag, accepted.error().message);
    }
  };
  return with_variable(app.add_option_function<std::string>(flag, take, help)->type_name(type));
}

CLI::Option* add_duration(CLI::App& app, const std::string& flag, Nanos& target, Nanos min,
                          Nanos max, const std::string& help) {
  const std::string bounds = print_duration(min) + ".." + print_duration(max);
  return add_checked(app, flag, "DURATION " + bounds, help,
                     [&target, min, max, bounds](const std::string& text) -> Status {
                       const auto parsed = parse_duration(text);
                       if (!parsed) return parsed.error();
                       if (*parsed < min || *parsed > max) {
                         return Error{text + " is outside " + bounds};
                       }
                       target = *parsed;
                       return success();
                     });
}

void ConfigFlagSet::add_file() {
  with_variable(
      app_.add_option("--config.file", config_file_,
                      "YAML configuration; see config/trainwatch.yaml. Default: none; every "
                      "setting has a default"))
      ->type_name("FILE");
}

void ConfigFlagSet::add_file_and_rules() {
  add_file();
  with_variable(app_.add_option("--rules", rules_, "Enable exactly these rules"))
      ->type_name("ID,ID...")
      ->allow_extra_args(false)
      ->delimiter(',');
  with_variable(app_.add_option("--set", set_, "Set a parameter of a rule; may be repeated"))
      ->type_name("RULE.PARAM=VALUE")
      ->allow_extra_args(false)
      ->delimiter(',');
}

void ConfigFlagSet::add_preset() {
  add_setting(*find_field(settings_table(), "rules.preset"), Config(catalog_));
}

void ConfigFlagSet::add_settings() {
  const Config defaults(catalog_);
  for (const ConfigField<Config>& field : settings_table()) add_setting(field, defaults);
}

void ConfigFlagSet::add_setting(const ConfigField<Config>& field, const Config& defaults) {
  const std::string key(field.key);
  std::string flag = "--" + key;
  std::replace(flag.begin(), flag.end(), '_', '-');
  const std::string bounds = field.bounds.empty() ? "" : " " + field.bounds;
  const std::string type = field.type == "choice" ? field.bounds : std::string(field.type) + bounds;
  const std::string standard = field.list ? "" : " Default: " + field.print(defaults);
  CLI::Option* option =
      with_variable(app_.add_option(flag, settings_[key], std::string(field.help) + standard))
          ->allow_extra_args(false)
          ->type_name(type)
          ->group("Settings (keys of the file)");
  if (field.list) {
    option->delimiter(',');
  } else {
    // --web.insecure is --web.insecure=true.
    const int fewest = field.type == "boolean" ? 0 : 1;
    option->expected(fewest, 1)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
}

void ConfigFlagSet::add_watch() {
  app_.add_option("--watch", watch_,
                  "Directory tree or file to watch; may be repeated; replaces the file's list "
                  "(Env:" +
                      std::string(kWatchVariable) + ", separated by ':')")
      ->type_name("PATH")
      ->allow_extra_args(false);
}

Result<ConfigFlags> ConfigFlagSet::flags() const {
  ConfigFlags flags;
  for (const auto& [key, values] : settings_) {
    if (values.empty()) continue;
    const bool bare = values.back().empty() && find_field(settings_table(), key)->type == "boolean";
    flags.settings.emplace_back(key, bare ? std::vector<std::string>{"true"} : values);
  }
  flags.watch = watch_;
  const CLI::Option* watch = app_.get_option_no_throw("--watch");
  if (watch != nullptr && watch->count() == 0) {
    if (const char* paths = std::getenv(kWatchVariable)) flags.watch = split_paths(paths);
  }
  if (!rules_.empty()) flags.rules = rules_;
  flags.set = set_;
  Config scratch(catalog_);
  if (Status applied = apply_flags(flags, scratch); !applied) return applied.error();
  return flags;
}

}  // namespace trainwatch
