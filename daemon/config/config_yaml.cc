// SPDX-License-Identifier: Apache-2.0
// The YAML file: walks the document, passes every value to its row of the tables, and reports the
// position of each mistake.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "daemon/config/config.h"
#include "daemon/config/config_table.h"
#include "daemon/config/config_text.h"
#include "daemon/config/format_config.h"
#include "daemon/config/yaml_reader.h"

namespace trainwatch {
namespace {

class ConfigReader : public YamlReader {
 public:
  ConfigReader(std::string file, Config& config) : YamlReader(std::move(file)), config_(config) {}

  void read(const YAML::Node& root) {
    if (root.IsNull()) return;  // nothing but comments: the defaults
    each_key(root, "",
             [&](const std::string& key, const YAML::Node& where, const YAML::Node& value) {
               if (key == "watch") return read_watch(value);
               if (key == "rules") return read_rules(value);
               if (key == "receivers") return read_receivers(value);
               if (key == "silences") return read_silences(value);
               if (key == "formats") return read_formats(value);
               const std::vector<std::string_view> known = sections();
               if (std::find(known.begin(), known.end(), key) == known.end()) {
                 return fail(where, key, "unknown key" + did_you_mean(key, known));
               }
               read_section(key, value);
             });
  }

 private:
  // The text of a value: one for a scalar, several for a list of scalars, none for anything else.
  static std::vector<std::string> texts(const YAML::Node& value, bool list) {
    if (value.IsScalar()) return {value.Scalar()};
    if (!list || !value.IsSequence()) return {};
    std::vector<std::string> all;
    for (const YAML::Node& item : value) {
      if (!item.IsScalar()) return {};
      all.push_back(item.Scalar());
    }
    return all;
  }

  template <class Target>
  void set(const ConfigField<Target>& field, Target& target, const YAML::Node& value,
           const std::string& path) {
    const std::vector<std::string> values = texts(value, field.list);
    const bool empty_list = field.list && value.IsSequence() && value.size() == 0;
    if (values.empty() && !empty_list) {
      return fail(value, path,
                  "must be " + std::string(field.list ? "a list" : "one value") + " (" +
                      std::string(field.type) + ")");
    }
    const Status set = field.set(target, values);
    if (!set) fail(value, path, set.error().message);
  }

  static std::vector<std::string_view> sections() {
    std::vector<std::string_view> names = {"watch", "rules", "receivers", "silences", "formats"};
    for (const auto& field : settings_table()) {
      const std::string_view name = field.key.substr(0, field.key.find('.'));
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    return names;
  }

  void read_section(const std::string& section, const YAML::Node& node) {
    if (node.IsNull()) return;
    each_key(node, section,
             [&](const std::string& key, const YAML::Node& where, const YAML::Node& value) {
               const std::string path = section + "." + key;
               if (const auto* field = find_field(settings_table(), path)) {
                 return set(*field, config_, value, path);
               }
               std::vector<std::string_view> known;
               for (const auto& field : settings_table()) {
                 if (field.key.starts_with(section + ".")) {
                   known.push_back(field.key.substr(section.size() + 1));
                 }
               }
               fail(where, path, "unknown key" + did_you_mean(key, known));
             });
  }

  void read_watch(const YAML::Node& node) {
    if (node.IsNull()) return;
    if (!node.IsSequence()) return fail(node, "watch", "must be a list");
    for (std::size_t i = 0; i < node.size(); ++i) {
      read_watch_entry(node[i], "watch[" + std::to_string(i) + "]");
    }
  }

  // A map whose keys are rows of `table`.
  template <class Target>
  void read_entry(const std::vector<ConfigField<Target>>& table, Target& target,
                  const YAML::Node& node, const std::string& path) {
    each_key(node, path,
             [&](const std::string& key, const YAML::Node& where, const YAML::Node& value) {
               if (const auto* field = find_field(table, key)) {
                 return set(*field, target, value, path + "." + key);
               }
               std::vector<std::string_view> known;
               for (const auto& field : table) known.push_back(field.key);
               fail(where, path + "." + key, "unknown key" + did_you_mean(key, known));
             });
  }

  // A list of such maps; `check` says what is wrong with one as a whole.
  template <class Target, class Check>
  void read_list(const std::string& name, const std::vector<ConfigField<Target>>& table,
                 const YAML::Node& node, std::vector<Target>& list, const Check& check) {
    if (node.IsNull()) return;
    if (!node.IsSequence()) return fail(node, name, "must be a list");
    for (std::size_t i = 0; i < node.size(); ++i) {
      const std::string path = name + "[" + std::to_string(i) + "]";
      const std::size_t before = errors().size();
      Target target;
      read_entry(table, target, node[i], path);
      const Status sound = check(target);
      if (errors().size() == before && !sound) fail(node[i], path, sound.error().message);
      list.push_back(std::move(target));
    }
  }

  void read_receivers(const YAML::Node& node) {
    read_list("receivers", receiver_table(), node, config_.receivers,
              [this](const ReceiverConfig& receiver) -> Status {
                if (receiver.name.empty()) return Error{"name is missing"};
                for (const ReceiverConfig& other : config_.receivers) {
                  if (other.name == receiver.name) return Error{"another one has this name"};
                }
                if (config_.receivers.size() >= kMostReceivers) return Error{"is one too many"};
                return check_receiver(receiver);
              });
  }

  void read_silences(const YAML::Node& node) {
    read_list("silences", silence_table(), node, config_.silences, check_silence);
  }

  void read_formats(const YAML::Node& node) {
    FormatsReader reader(file());
    config_.formats = reader.read(node);
    add_errors(reader.errors());
  }

  void read_watch_entry(const YAML::Node& node, const std::string& path) {
    WatchConfig watch;
    if (node.IsScalar()) {
      watch.path = node.Scalar();
      if (watch.path.empty()) fail(node, path, "is empty");
    } else {
      read_entry(watch_table(), watch, node, path);
      if (node.IsMap() && !node["path"]) fail(node, path + ".path", "is missing");
    }
    config_.watch.push_back(std::move(watch));
  }

  void read_rules(const YAML::Node& node) {
    if (node.IsNull()) return;
    each_key(node, "rules",
             [&](const std::string& id, const YAML::Node& where, const YAML::Node& value) {
               const std::string path = "rules." + id;
               if (const auto* field = find_field(settings_table(), path)) {
                 return set(*field, config_, value, path);
               }
               RuleEntry* rule = find_rule_entry(config_, id);
               if (rule == nullptr) return fail(where, path, unknown_rule(config_, id).message);
               if (!value.IsNull()) read_rule(*rule, path, value);
             });
  }

  void read_rule(RuleEntry& rule, const std::string& path, const YAML::Node& node) {
    each_key(node, path,
             [&](const std::string& key, const YAML::Node& where, const YAML::Node& value) {
               const std::string here = path + "." + key;
               if (!value.IsScalar())
                 return fail(value.IsNull() ? where : value, here, "must be one value");
               const Status set = set_rule_key(rule, key, value.Scalar());
               if (!set) fail(value, here, set.error().message);
             });
  }

  Config& config_;
};

}  // namespace

Result<Config> load_config_file(const std::string& path, RuleCatalog catalog) {
  std::ifstream file(path);
  if (!file || std::filesystem::is_directory(path)) return Error{path + ": cannot be read"};
  std::ostringstream text;
  text << file.rdbuf();
  return parse_config(text.str(), path, catalog);
}

Result<Config> parse_config(const std::string& text, const std::string& name, RuleCatalog catalog) {
  Config config(catalog);
  ConfigReader reader(name, config);
  if (const Status read = read_yaml(reader, text); !read) return read.error();
  return config;
}

}  // namespace trainwatch
