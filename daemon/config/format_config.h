// SPDX-License-Identifier: Apache-2.0
// `formats` of the configuration: the user's own formats of files (docs/formats.md).
#pragma once

#include <string>
#include <vector>

#include "daemon/config/yaml_reader.h"
#include "pipeline/decode/declared/declaration.h"

namespace trainwatch {

inline constexpr std::size_t kMostFormats = 64;
inline constexpr std::size_t kMostFormatFields = 64;  // of one format

// Reads the map behind the key `formats`. Those of the result are sound if errors() is empty.
class FormatsReader : public YamlReader {
 public:
  using YamlReader::YamlReader;

  std::vector<FormatDeclaration> read(const YAML::Node& node);

 private:
  void read_format(const YAML::Node& node, FormatDeclaration& format);
  void read_key(const std::string& key, const YAML::Node& where, const YAML::Node& value,
                FormatDeclaration& format);
  void read_probe(const YAML::Node& node, FormatDeclaration& format);
  void read_end(const YAML::Node& node, FormatDeclaration& format);
  void read_pairs(const YAML::Node& node);
  void read_time(const YAML::Node& node, FormatDeclaration& format);
  void read_step(const YAML::Node& node, FormatDeclaration& format);
  void read_fields(const YAML::Node& node, FormatDeclaration& format);
  void read_field(const std::string& key, const YAML::Node& node, FormatDeclaration& format);
  void read_target(const std::string& to, const YAML::Node& node, const std::string& path,
                   DeclaredField& field);
  void read_spans(const YAML::Node& node, FormatDeclaration& format);
  void read_span_kinds(const YAML::Node& node, DeclaredSpans& spans);
  void check(const YAML::Node& node, const FormatDeclaration& format);
  void check_line(const YAML::Node& node, const FormatDeclaration& format);

  // Returns the text of a value. Records an error and returns an empty text if the value is empty
  // or not a text.
  std::string text(const YAML::Node& value, const std::string& path);
  // One text or a list of them, at least one.
  std::vector<std::string> texts(const YAML::Node& value, const std::string& path);
  double number(const YAML::Node& value, const std::string& path);
  // One of the allowed texts.
  void only(const YAML::Node& value, const std::string& path,
            const std::vector<std::string_view>& allowed);
  void unknown(const YAML::Node& where, const std::string& path, const std::string& key,
               const std::vector<std::string_view>& known);

  std::string path_;  // "formats.NAME"
};

}  // namespace trainwatch
