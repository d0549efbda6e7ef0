// SPDX-License-Identifier: Apache-2.0
// What the readers of YAML files share: mistakes with their lines, and maps in which no key appears
// twice.
#pragma once

#include <yaml-cpp/yaml.h>

#include <functional>
#include <set>
#include <string>
#include <utility>

#include "trainwatch/result.h"

namespace trainwatch {

class YamlReader {
 public:
  // Error messages name the file as `file`.
  explicit YamlReader(std::string file) : file_(std::move(file)) {}

  // One line per mistake: "trainwatch.yaml:14: rules.step_spike.sigma: 0.5 is outside 1..50".
  const std::string& errors() const { return errors_; }
  const std::string& file() const { return file_; }

  // Those of another reader of the same file.
  void add_errors(const std::string& errors) {
    if (!errors.empty() && !errors_.empty()) errors_ += '\n';
    errors_ += errors;
  }

  void fail(const YAML::Mark& mark, const std::string& path, const std::string& what) {
    if (!errors_.empty()) errors_ += '\n';
    errors_ += file_ + ":" + std::to_string(mark.line + 1) + ": ";
    if (!path.empty()) errors_ += path + ": ";
    errors_ += what;
  }
  void fail(const YAML::Node& node, const std::string& path, const std::string& what) {
    fail(node.Mark(), path, what);
  }

 protected:
  using OnKey =
      std::function<void(const std::string&, const YAML::Node& where, const YAML::Node& value)>;

  // Calls back for each key of a map; a wrong type and a duplicate key are errors.
  void each_key(const YAML::Node& map, const std::string& path, const OnKey& on_key) {
    if (!map.IsMap()) return fail(map, path, "must be a map of keys and values");
    std::set<std::string> seen;
    for (const auto& entry : map) {
      const YAML::Node& where = entry.first;
      if (!where.IsScalar()) {
        fail(where, path, "a key must be a scalar");
      } else if (const std::string& key = where.Scalar(); !seen.insert(key).second) {
        fail(where, path.empty() ? key : std::string(path).append(".").append(key),
             "appears twice");
      } else {
        on_key(key, where, entry.second);
      }
    }
  }

 private:
  std::string file_;
  std::string errors_;
};

// Has `reader`, a YamlReader with a method read(), read a document. The error has all mistakes, one
// per line; a document that is not YAML is one.
template <class Reader>
Status read_yaml(Reader& reader, const std::string& text) {
  try {
    reader.read(YAML::Load(text));
  } catch (const YAML::Exception& error) {
    reader.fail(error.mark, "", error.msg);
  }
  if (!reader.errors().empty()) return Error{reader.errors()};
  return success();
}

}  // namespace trainwatch
