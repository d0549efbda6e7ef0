// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/format_config.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "daemon/config/config_text.h"
#include "pipeline/decode/declared/line_pattern.h"

namespace trainwatch {
namespace {

using Known = std::vector<std::string_view>;

// The kinds that a field may have, as the configuration names them.
std::vector<std::pair<std::string_view, ScalarKind>> targets() {
  std::vector<std::pair<std::string_view, ScalarKind>> all;
  for (std::size_t i = 1; i < static_cast<std::size_t>(ScalarKind::count_); ++i) {
    const auto kind = static_cast<ScalarKind>(i);
    all.emplace_back(kind == ScalarKind::mfu_ratio ? "mfu" : to_string(kind), kind);
  }
  return all;
}

constexpr std::array kSpanKinds = {
    std::pair{std::string_view{"Step"}, SpanKind::step},
    std::pair{std::string_view{"DataFetch"}, SpanKind::data_wait},
    std::pair{std::string_view{"Forward"}, SpanKind::forward},
    std::pair{std::string_view{"Backward"}, SpanKind::backward},
    std::pair{std::string_view{"Optimizer"}, SpanKind::optimizer},
    std::pair{std::string_view{"Checkpoint"}, SpanKind::checkpoint},
    std::pair{std::string_view{"Evaluation"}, SpanKind::evaluation},
    std::pair{std::string_view{"GarbageCollection"}, SpanKind::garbage_collection},
    std::pair{std::string_view{"Compilation"}, SpanKind::compilation},
};

// The text that a pattern without operators matches; nullopt: it has one.
std::optional<std::string> literal_of(std::string_view pattern) {
  std::string literal;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const bool escaped = pattern[i] == '\\';
    if (escaped && ++i == pattern.size()) return std::nullopt;
    const char c = pattern[i];
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    constexpr std::string_view kOperators = ".*+?|^$";
    if (escaped ? letter : kOperators.find(c) != std::string_view::npos) return std::nullopt;
    literal += c;
  }
  return literal;
}

}  // namespace

std::vector<FormatDeclaration> FormatsReader::read(const YAML::Node& node) {
  std::vector<FormatDeclaration> formats;
  if (node.IsNull()) return formats;
  each_key(node, "formats",
           [&](const std::string& name, const YAML::Node& where, const YAML::Node& value) {
             path_ = "formats." + name;
             if (formats.size() == kMostFormats) return fail(where, path_, "is one too many");
             FormatDeclaration& format = formats.emplace_back();
             format.name = name;
             read_format(value, format);
           });
  return formats;
}

void FormatsReader::read_format(const YAML::Node& node, FormatDeclaration& format) {
  if (!node.IsMap()) return fail(node, path_, "must be a map of keys and values");
  constexpr std::array kKinds = {std::pair{"regex", DeclaredKind::regex},
                                 std::pair{"json", DeclaredKind::json},
                                 std::pair{"csv", DeclaredKind::csv}};
  const YAML::Node kind = node["kind"];
  if (!kind) return fail(node, path_ + ".kind", "is missing: regex, json or csv");
  const std::string name = text(kind, path_ + ".kind");
  const auto* const found =
      std::ranges::find_if(kKinds, [&name](const auto& each) { return each.first == name; });
  if (found == kKinds.end()) {
    return fail(kind, path_ + ".kind", "'" + name + "' is not one of regex, json, csv");
  }
  format.kind = found->second;
  const std::size_t mistakes = errors().size();
  each_key(node, path_,
           [&](const std::string& key, const YAML::Node& where, const YAML::Node& value) {
             if (key != "kind") read_key(key, where, value, format);
           });
  if (errors().size() == mistakes) check(node, format);
}

void FormatsReader::read_key(const std::string& key, const YAML::Node& where,
                             const YAML::Node& value, FormatDeclaration& format) {
  const std::string path = path_ + "." + key;
  const bool lines = format.kind == DeclaredKind::regex;
  if (key == "files") {
    format.files = texts(value, path);
  } else if (key == "probe") {
    read_probe(value, format);
  } else if (key == "time") {
    read_time(value, format);
  } else if (key == "step") {
    read_step(value, format);
  } else if (key == "fields") {
    read_fields(value, format);
  } else if (key == "line" && lines) {
    format.line = text(value, path);
  } else if (key == "end" && lines) {
    read_end(value, format);
  } else if (key == "pairs" && lines) {
    read_pairs(value);
  } else if (key == "rank" && !lines) {
    format.rank = text(value, path);
  } else if (key == "spans" && format.kind == DeclaredKind::json) {
    read_spans(value, format);
  } else {
    Known known = {"files", "kind", "probe", "time", "step", "fields"};
    if (lines) known.insert(known.end(), {"line", "pairs", "end"});
    if (!lines) known.emplace_back("rank");
    if (format.kind == DeclaredKind::json) known.emplace_back("spans");
    unknown(where, path, key, known);
  }
}

void FormatsReader::read_probe(const YAML::Node& node, FormatDeclaration& format) {
  const std::string path = path_ + ".probe";
  if (format.kind != DeclaredKind::regex) {
    const std::string key = format.kind == DeclaredKind::json ? "has" : "header_has";
    if (!node.IsMap()) return fail(node, path, "must be a map with the key " + key);
    return each_key(node, path,
                    [&](const std::string& name, const YAML::Node& where, const YAML::Node& value) {
                      if (name != key) return unknown(where, path + "." + name, name, {key});
                      format.has = texts(value, path + "." + key);
                    });
  }
  for (const std::string& pattern : texts(node, path)) {
    const auto literal = literal_of(pattern);
    if (!literal) {
      return fail(node, path,
                  "'" + pattern +
                      "' is a pattern, not a text that every record contains: each of . | ( ) [ ] "
                      "{ } * + ? ^ $ needs a backslash before it");
    }
    if (literal->size() < 3)
      return fail(node, path, "'" + pattern + "' has fewer than 3 characters");
    format.has.push_back(*literal);
  }
}

void FormatsReader::read_end(const YAML::Node& node, FormatDeclaration& format) {
  const std::string path = path_ + ".end";
  for (const std::string& literal : texts(node, path)) {
    if (literal.size() < 3) return fail(node, path, "must be texts of 3 or more characters");
    format.end.push_back(literal);
  }
}

// Values are found as `key: value` and `key=value` wherever they stand: this only describes them.
void FormatsReader::read_pairs(const YAML::Node& node) {
  const std::string path = path_ + ".pairs";
  each_key(node, path,
           [&](const std::string& key, const YAML::Node& where, const YAML::Node& value) {
             if (key == "sep") {
               text(value, path + ".sep");
             } else if (key == "kv") {
               only(value, path + ".kv", {":", "="});
             } else {
               unknown(where, path + "." + key, key, {"sep", "kv"});
             }
           });
}

void FormatsReader::read_time(const YAML::Node& node, FormatDeclaration& format) {
  const std::string path = path_ + ".time";
  each_key(node, path,
           [&](const std::string& key, const YAML::Node& where, const YAML::Node& value) {
             const std::string here = path + "." + key;
             if (key == "from") {
               format.time = text(value, here);
             } else if (key == "layout") {
               only(value, here, {"%Y-%m-%d %H:%M:%S"});
             } else if (key == "zone") {
               only(value, here, {"local"});
             } else if (key == "else") {
               only(value, here, {"arrival"});
             } else if (key == "scale" && format.kind != DeclaredKind::regex) {
               const double scale = number(value, here);
               constexpr std::array kUnits = {
                   std::pair{1.0, TimeUnit::seconds}, std::pair{1e-3, TimeUnit::milliseconds},
                   std::pair{1e-6, TimeUnit::microseconds}, std::pair{1e-9, TimeUnit::nanoseconds}};
               const auto* const unit = std::ranges::find_if(
                   kUnits, [scale](const auto& each) { return each.first == scale; });
               if (unit == kUnits.end()) return fail(value, here, "must be 1, 1e-3, 1e-6 or 1e-9");
               format.time_unit = unit->second;
             } else {
               unknown(where, here, key, {"from", "layout", "zone", "else", "scale"});
             }
           });
}

void FormatsReader::read_step(const YAML::Node& node, FormatDeclaration& format) {
  const std::string path = path_ + ".step";
  if (node.IsScalar()) {
    format.step = text(node, path);
    return;
  }
  each_key(node, path,
           [&](const std::string& key, const YAML::Node& where, const YAML::Node& value) {
             if (key == "from") {
               format.step = text(value, path + ".from");
             } else if (key == "base") {
               only(value, path + ".base", {"0", "1"});  // steps are shown as they are written
             } else {
               unknown(where, path + "." + key, key, {"from", "base"});
             }
           });
}

void FormatsReader::read_fields(const YAML::Node& node, FormatDeclaration& format) {
  each_key(node, path_ + ".fields",
           [&](const std::string& key, const YAML::Node& where, const YAML::Node& value) {
             if (format.fields.size() == kMostFormatFields) {
               return fail(where, path_ + ".fields." + key, "is one too many");
             }
             read_field(key, value, format);
           });
}

void FormatsReader::read_field(const std::string& key, const YAML::Node& node,
                               FormatDeclaration& format) {
  const std::string path = path_ + ".fields." + key;
  DeclaredField& field = format.fields.emplace_back();
  field.key = key;
  if (node.IsScalar()) return read_target(node.Scalar(), node, path, field);
  if (node.IsMap() && !node["to"]) return fail(node, path + ".to", "is missing");
  each_key(node, path,
           [&](const std::string& name, const YAML::Node& where, const YAML::Node& value) {
             const std::string here = path + "." + name;
             if (name == "to") {
               read_target(text(value, here), value, here, field);
             } else if (name == "scale") {
               field.scale = number(value, here);
             } else if (name == "per") {
               only(value, here, {"step", "interval", "median20"});
               field.interval = value.IsScalar() && value.Scalar() != "step";
             } else {
               unknown(where, here, name, {"to", "scale", "per"});
             }
           });
}

void FormatsReader::read_target(const std::string& to, const YAML::Node& node,
                                const std::string& path, DeclaredField& field) {
  constexpr std::string_view kMetric = "metric:";
  if (to.starts_with(kMetric) && to.size() > kMetric.size()) {
    field.tag = to.substr(kMetric.size());
    return;
  }
  Known known;
  for (const auto& [name, kind] : targets()) {
    known.push_back(name);
    if (name != to) continue;
    field.kind = kind;
    return;
  }
  std::string list;
  for (const std::string_view name : known) list.append(name).append(", ");
  fail(node, path,
       "'" + to + "' is no target" + did_you_mean(to, known) + ": one of " + list + "metric:NAME");
}

void FormatsReader::read_spans(const YAML::Node& node, FormatDeclaration& format) {
  const std::string path = path_ + ".spans";
  DeclaredSpans& spans = format.spans;
  each_key(node, path,
           [&](const std::string& key, const YAML::Node& where, const YAML::Node& value) {
             if (key == "name") {
               spans.name_key = text(value, path + ".name");
             } else if (key == "end") {
               spans.end = text(value, path + ".end");
             } else if (key == "value_ms") {
               spans.ms_key = text(value, path + ".value_ms");
             } else if (key == "map") {
               read_span_kinds(value, spans);
             } else {
               unknown(where, path + "." + key, key, {"name", "end", "value_ms", "map"});
             }
           });
  if (spans.name_key.empty()) return fail(node, path + ".name", "is missing");
  if (spans.ms_key.empty()) return fail(node, path + ".value_ms", "is missing");
}

void FormatsReader::read_span_kinds(const YAML::Node& node, DeclaredSpans& spans) {
  const std::string path = path_ + ".spans.map";
  each_key(node, path, [&](const std::string& name, const YAML::Node&, const YAML::Node& value) {
    const std::string kind = text(value, path + "." + name);
    const auto* const found =
        std::ranges::find(kSpanKinds, kind, [](auto& each) { return each.first; });
    if (found != kSpanKinds.end()) {
      spans.kinds.emplace_back(name, found->second);
      return;
    }
    Known known;
    for (const auto& each : kSpanKinds) known.push_back(each.first);
    fail(value, path + "." + name, "'" + kind + "' is no phase" + did_you_mean(kind, known));
  });
}

void FormatsReader::check(const YAML::Node& node, const FormatDeclaration& format) {
  if (format.has.empty()) return fail(node, path_ + ".probe", "is missing");
  if (format.fields.empty() && format.spans.name_key.empty()) {
    return fail(node, path_ + ".fields", "is missing");
  }
  if (format.kind == DeclaredKind::regex) return check_line(node, format);
  if (!format.spans.name_key.empty() && format.time.empty()) {
    fail(node, path_ + ".time.from", "is missing: spans need a time");
  }
}

void FormatsReader::check_line(const YAML::Node& node, const FormatDeclaration& format) {
  if (format.line.empty()) return fail(node, path_ + ".line", "is missing");
  if (const auto wrong = error_in_line_pattern(format.line)) {
    return fail(node["line"], path_ + ".line", *wrong);
  }
  for (const auto& [key, group] : {std::pair{"time", format.time}, {"step", format.step}}) {
    if (group.empty() || format.line.find("(?P<" + group + ">") != std::string::npos) continue;
    fail(node[key], path_ + "." + key + ".from", "'" + group + "' is no group of the line");
  }
}

std::string FormatsReader::text(const YAML::Node& value, const std::string& path) {
  if (value.IsScalar() && !value.Scalar().empty()) return value.Scalar();
  fail(value, path, "must be a text");
  return {};
}

std::vector<std::string> FormatsReader::texts(const YAML::Node& value, const std::string& path) {
  if (value.IsScalar()) return {text(value, path)};
  std::vector<std::string> all;
  if (!value.IsSequence() || value.size() == 0) {
    fail(value, path, "must be a text or a list of texts");
    return all;
  }
  for (std::size_t i = 0; i < value.size(); ++i) {
    all.push_back(text(value[i], path + "[" + std::to_string(i) + "]"));
  }
  return all;
}

double FormatsReader::number(const YAML::Node& value, const std::string& path) {
  double parsed = 0;
  if (value.IsScalar() && YAML::convert<double>::decode(value, parsed) && std::isfinite(parsed) &&
      parsed != 0) {
    return parsed;
  }
  fail(value, path, "must be a number other than 0");
  return 1;
}

void FormatsReader::only(const YAML::Node& value, const std::string& path, const Known& allowed) {
  const std::string given = value.IsScalar() ? value.Scalar() : "";
  if (std::ranges::find(allowed, given) != allowed.end()) return;
  std::string list;
  for (const std::string_view each : allowed) {
    list.append(list.empty() ? "'" : " or '").append(each).append("'");
  }
  fail(value, path, "must be " + list);
}

void FormatsReader::unknown(const YAML::Node& where, const std::string& path,
                            const std::string& key, const Known& known) {
  fail(where, path, "unknown key" + did_you_mean(key, known));
}

}  // namespace trainwatch
