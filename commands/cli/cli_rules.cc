// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "commands/cli/cli_commands.h"
#include "daemon/terminal/columns.h"
#include "trainwatch/json_writer.h"

namespace trainwatch {
namespace {

constexpr std::size_t kTextWidth = 96;  // columns of a terminal

std::string_view name_of(Scope scope) {
  switch (scope) {
    case Scope::job:
      return "job";
    case Scope::node:
      return "node";
    case Scope::rank:
      return "rank";
    case Scope::gpu:
      return "gpu";
    case Scope::all:
      return "all";
  }
  return "job";
}

std::string default_of(const RuleSpec& rule, const Param& param) {
  return param.print(rule.defaults);
}

std::string_view name_of(Param::Kind kind) {
  switch (kind) {
    case Param::Kind::number:
      return "number";
    case Param::Kind::boolean:
      return "boolean";
    case Param::Kind::text:
      return "text";
  }
  return "number";
}

// "; sagemaker-code: 0; sagemaker-docs: 100"
std::string presets_text(const Param& param) {
  std::string text;
  const auto add = [&text](std::string_view preset, const std::optional<double>& number) {
    if (number) text.append("; ").append(preset).append(": ").append(detail::number_text(*number));
  };
  add("sagemaker-code", param.sagemaker.code);
  add("sagemaker-docs", param.sagemaker.docs);
  return text;
}

// Text inside a cell of a Markdown table.
std::string cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c == '\n' ? ' ' : c;
  }
  return escaped;
}

}  // namespace

std::string rules_as_text(RuleCatalog catalog) {
  std::string out;
  for (const RuleSpec* rule : catalog) {
    if (!out.empty()) out += '\n';
    out.append(rule->id).append(" (one per ").append(name_of(rule->scope));
    out.append(rule->on_by_default ? ")\n" : "; off by default)\n");
    append_wrapped(out, rule->summary, 2, kTextWidth);
    append_wrapped(out, rule->doc, 2, kTextWidth);
    for (const Param& param : rule->params) {
      out.append("    ").append(param.name).append(" = ").append(param.print_yaml(rule->defaults));
      out.append("   (").append(param.bounds()).append(presets_text(param)).append(")\n");
      append_wrapped(out, param.help, 8, kTextWidth);
    }
  }
  return out;
}

std::string rules_as_json(RuleCatalog catalog) {
  JsonWriter json;
  json.begin_array();
  for (const RuleSpec* rule : catalog) {
    json.begin_object().field("id", rule->id).field("version", rule->version);
    json.field("scope", name_of(rule->scope)).field("summary", rule->summary);
    json.field("on_by_default", rule->on_by_default).field("doc", rule->doc);
    json.key("params").begin_array();
    for (const Param& param : rule->params) {
      json.begin_object().field("name", param.name);
      json.field("type", name_of(param.kind));
      json.key("default").raw(param.print_json(rule->defaults));
      const SageMakerDefaults& sagemaker = param.sagemaker;
      if (sagemaker.code) json.field("sagemaker_code_default", *sagemaker.code);
      if (sagemaker.docs) json.field("sagemaker_docs_default", *sagemaker.docs);
      if (param.kind == Param::Kind::number) {
        json.field("min", param.min).field("max", param.max);
      }
      json.field("help", param.help).end_object();
    }
    json.end_array().end_object();
  }
  return json.end_array().take() + "\n";
}

std::string rules_as_markdown(RuleCatalog catalog) {
  std::string out = "| rule | one per | says | parameters (default) |\n|---|---|---|---|\n";
  for (const RuleSpec* rule : catalog) {
    out.append("| `").append(rule->id).append("` | ").append(name_of(rule->scope)).append(" | ");
    out.append(cell(rule->summary)).append(" | ");
    for (std::size_t i = 0; i < rule->params.size(); ++i) {
      const Param& param = rule->params[i];
      out.append(i == 0 ? "`" : ", `").append(param.name).append("` (");
      const std::string standard = cell(default_of(*rule, param));
      out.append(standard.empty() ? "none" : standard).append(")");
    }
    out += " |\n";
  }
  return out;
}

std::string rules_as_yaml(RuleCatalog catalog) {
  std::string out;
  bool off_by_default = false;
  for (const RuleSpec* rule : catalog) {
    if (!out.empty()) out += '\n';
    if (!rule->on_by_default && !std::exchange(off_by_default, true)) {
      out += "  # SageMaker's own rules: off unless enabled with `enabled: true`.\n\n";
    }
    out.append("  # ").append(rule->summary).append("\n  ").append(rule->id).append(":\n");
    if (rule->params.empty()) out += "    enabled: false\n";
    std::vector<std::string> keys;
    std::size_t width = 0;
    for (const Param& param : rule->params) {
      keys.push_back(std::string(param.name) + ": " + param.print_yaml(rule->defaults));
      width = std::max(width, keys.back().size());
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const Param& param = rule->params[i];
      std::string_view help = param.help;
      if (help.ends_with('.')) help.remove_suffix(1);
      out.append("    ").append(keys[i]).append(width - keys[i].size(), ' ');
      out.append("  # ").append(help).append(" (").append(param.bounds()).append(")\n");
    }
  }
  return out;
}

}  // namespace trainwatch
