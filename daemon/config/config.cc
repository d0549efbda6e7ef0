// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/config.h"

#include <algorithm>
#include <string_view>

#include "daemon/config/config_table.h"
#include "daemon/net/url.h"
#include "pipeline/analysis/catalog.h"

namespace trainwatch {
namespace {

std::string flag_name(std::string_view key) {
  std::string flag = "--" + std::string(key);
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

Error at(const std::string& place, const Error& error) {
  return Error{place + ": " + error.message};
}

RuleConfig with_preset(const RuleEntry& rule, RulePreset preset) {
  RuleConfig config = rule.config;
  config.apply(preset, rule.set_keys);
  return config;
}

Status enable_exactly(const std::vector<std::string>& ids, Config& config) {
  for (RuleEntry& rule : config.rules) rule.enabled = false;
  for (const std::string& id : ids) {
    RuleEntry* rule = find_rule_entry(config, id);
    if (rule == nullptr) return at("--rules", unknown_rule(config, id));
    rule->enabled = true;
  }
  return success();
}

// "step_spike.sigma=6"
Status set_from_text(const std::string& text, Config& config) {
  const std::size_t equals = text.find('=');
  const std::size_t dot = text.find('.');
  if (equals == std::string::npos || dot == std::string::npos || dot > equals) {
    return Error{"--set: '" + text + "' is not rule.param=value"};
  }
  const std::string id = text.substr(0, dot);
  const std::string key = text.substr(dot + 1, equals - dot - 1);
  RuleEntry* rule = find_rule_entry(config, id);
  if (rule == nullptr) return at("--set", unknown_rule(config, id));
  const Status set = set_rule_key(*rule, key, text.substr(equals + 1));
  return set ? success() : at("--set: " + id + "." + key, set.error());
}

}  // namespace

Status check_exposure(const WebConfig& web, const Access& access) {
  const auto listen = parse_listen_address(web.listen_address);
  if (!listen) return listen.error();
  if (web.insecure || access.needs_login() || is_loopback(listen->host)) return success();
  return Error{"web.listen_address: other hosts could connect to " + web.listen_address +
               " without a login; name users in --web.config.file, listen on 127.0.0.1, or allow "
               "it with --web.insecure (web.insecure: true)"};
}

Result<LoadedAccess> load_access(const WebConfig& web) {
  LoadedAccess loaded{std::make_shared<const Access>(), {}, {}};
  if (!web.config_file.empty()) {
    auto read = load_web_config(web.config_file);
    if (!read) return read.error();
    loaded = std::move(*read);
  }
  if (const Status exposed = check_exposure(web, *loaded.access); !exposed) return exposed.error();
  return loaded;
}

Config::Config(RuleCatalog catalog) {
  for (const RuleSpec* spec : catalog) rules.emplace_back(*spec);
}

std::vector<const AnalysisSpec*> Config::enabled_analyses() const {
  std::vector<const AnalysisSpec*> enabled;
  for (const AnalysisSpec* spec : analysis_catalog()) {
    const bool named = std::any_of(analyses.begin(), analyses.end(), [spec](const auto& name) {
      return (name == "all" && spec->live) || name == spec->name;
    });
    if (named) enabled.push_back(spec);
  }
  return enabled;
}

std::vector<RuleConfig> Config::enabled_rules() const {
  std::vector<RuleConfig> enabled;
  for (const RuleEntry& rule : rules) {
    const bool by_default = rules_default_enabled && rule.config.spec->on_by_default;
    if (rule.enabled.value_or(by_default)) enabled.push_back(with_preset(rule, rules_preset));
  }
  return enabled;
}

Status apply_flags(const ConfigFlags& flags, Config& config) {
  for (const auto& [key, values] : flags.settings) {
    const ConfigField<Config>* field = find_field(settings_table(), key);
    if (field == nullptr) return Error{"unknown setting " + key};
    const Status set = field->set(config, values);
    if (!set) return at(flag_name(key), set.error());
  }
  if (!flags.watch.empty()) {
    config.watch.clear();
    for (const std::string& path : flags.watch) {
      if (path.empty()) return Error{"--watch: is empty"};
      config.watch.push_back({path, "", "", {}});
    }
  }
  if (flags.rules) {
    if (Status enabled = enable_exactly(*flags.rules, config); !enabled) return enabled;
  }
  for (const std::string& text : flags.set) {
    if (Status set = set_from_text(text, config); !set) return set;
  }
  return success();
}

Result<Config> load_config(const std::string& path, const ConfigFlags& flags, RuleCatalog catalog) {
  Result<Config> config = path.empty() ? Config(catalog) : load_config_file(path, catalog);
  if (!config) return config;
  if (Status applied = apply_flags(flags, *config); !applied) return applied.error();
  if (config->input.environment_names) config->environment = environment_names(process_variable);
  return config;
}

}  // namespace trainwatch
