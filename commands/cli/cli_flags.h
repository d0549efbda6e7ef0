// SPDX-License-Identifier: Apache-2.0
// Flags that several commands share, and the environment variable of every flag.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>

#include "commands/cli/cli.h"
#include "daemon/config/config_table.h"
#include "trainwatch/time.h"

namespace trainwatch {

// Gives `option` its environment variable and returns it.
CLI::Option* with_variable(CLI::Option* option);

// A flag whose text `accept` takes or refuses with a message.
CLI::Option* add_checked(CLI::App& app, const std::string& flag, const std::string& type,
                         const std::string& help, std::function<Status(const std::string&)> accept);
CLI::Option* add_duration(CLI::App& app, const std::string& flag, Nanos& target, Nanos min,
                          Nanos max, const std::string& help);

// What the flags below say, complete once parsing is over.
class ConfigFlagSet {
 public:
  ConfigFlagSet(CLI::App& app, RuleCatalog catalog) : app_(app), catalog_(catalog) {}

  void add_file();            // --config.file
  void add_file_and_rules();  // --config.file, --rules, --set
  void add_preset();          // --rules.preset, for commands without add_settings()
  void add_settings();        // one flag per row of settings_table()
  void add_watch();           // --watch

  const std::string& config_file() const { return config_file_; }
  // The flags as given; an Error for a value that would be refused: wrong usage.
  Result<ConfigFlags> flags() const;

 private:
  void add_setting(const ConfigField<Config>& field, const Config& defaults);

  CLI::App& app_;
  RuleCatalog catalog_;
  std::string config_file_;
  std::vector<std::string> rules_;
  std::vector<std::string> set_;
  std::vector<std::string> watch_;
  std::map<std::string, std::vector<std::string>> settings_;  // by key of the table
};

}  // namespace trainwatch
