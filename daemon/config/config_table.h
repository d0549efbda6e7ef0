// SPDX-License-Identifier: Apache-2.0
// The tables behind configuration: each row is a key with its type, bounds, default, help and the
// code that reads it. Parser, validator, command-line flags and documentation all use these rows.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/config/config.h"

namespace trainwatch {

template <class Target>
struct ConfigField {
  std::string_view key;   // "web.listen_address"
  std::string_view type;  // "duration"
  std::string bounds;     // "100ms..1h", "debug|info|warn|error"; empty: any
  std::string_view help;
  bool list = false;  // takes several values; otherwise exactly one is given
  // The error says what is wrong with the value, not where it is.
  std::function<Status(Target&, std::span<const std::string> values)> set;
  std::function<std::string(const Target&)> print;
};

// `web.…`, `storage.…`, `log.…`, `tail.…`, `input.…`, `stream.…`, and of `rules.…` what is for all
// rules.
const std::vector<ConfigField<Config>>& settings_table();
// Keys of an entry of `watch`.
const std::vector<ConfigField<WatchConfig>>& watch_table();
// Keys of an entry of `receivers`, and of `silences`.
const std::vector<ConfigField<ReceiverConfig>>& receiver_table();
const std::vector<ConfigField<Silence>>& silence_table();
// Keys that every rule has beside its own parameters.
const std::vector<ConfigField<RuleEntry>>& rule_table();

// Sets one key of a rule: a row of rule_table(), or a parameter of the rule. The error says what is
// wrong and, for an unknown key, which one may be meant.
Status set_rule_key(RuleEntry& rule, std::string_view key, std::string_view text);

// Finds a rule of `config` by id, null when there is none.
RuleEntry* find_rule_entry(Config& config, std::string_view id);
// "unknown rule 'x' (did you mean 'y'?)"
Error unknown_rule(const Config& config, std::string_view id);

template <class Target>
const ConfigField<Target>* find_field(const std::vector<ConfigField<Target>>& table,
                                      std::string_view key) {
  for (const ConfigField<Target>& field : table) {
    if (field.key == key) return &field;
  }
  return nullptr;
}

}  // namespace trainwatch
