// SPDX-License-Identifier: Apache-2.0
#include "rules/expectation.h"

#include <optional>

namespace trainwatch::cases {
namespace {

using Kind = Expectation::Kind;

std::optional<Severity> severity_of(std::string_view text) {
  for (const Severity severity : {Severity::info, Severity::warning, Severity::critical}) {
    if (text == to_string(severity)) return severity;
  }
  return {};
}

// States and severities are values like all others; their words stand alone, as most lines have
// them.
Status read_fields(const Words& words, std::size_t from, std::vector<Field>& out) {
  for (std::size_t i = from; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const std::size_t equals = word.find('=');
    if (word == "says" && i + 1 < words.size()) {
      out.push_back({"summary", std::string(from_word(words, i + 1))});
      return success();
    }
    if (word == "firing" || word == "resolved") {
      out.push_back({"state", std::string(word)});
    } else if (severity_of(word)) {
      out.push_back({"severity", std::string(word)});
    } else if (equals != std::string_view::npos) {
      out.push_back({std::string(word.substr(0, equals)), std::string(word.substr(equals + 1))});
    } else {
      return Error{"cannot read '" + std::string(word) + "'"};
    }
  }
  return success();
}

bool read_nothing(const Words& words, Expectation& out) {
  if (words.size() == 2) return true;
  if (words.size() != 4 || words[2] != "at") return false;
  const std::optional<Severity> least = severity_of(words[3]);
  if (least) out.least = *least;
  return least.has_value();
}

}  // namespace

Result<Expectation> read_expectation(const Words& words) {
  Expectation out;
  out.text = from_word(words, 0);
  const std::string_view what = words.size() > 1 ? words[1] : "";
  Status fields = success();
  if (what == "at" && words.size() > 4 && read(words[3], out.label.number)) {
    out.kind = Kind::at;
    out.label.kind = words[2];
    fields = read_fields(words, 4, out.fields);
  } else if (what == "last" && words.size() > 2) {
    out.kind = Kind::last;
    fields = read_fields(words, 2, out.fields);
  } else if (what == "nothing" && read_nothing(words, out)) {
    out.kind = Kind::nothing;
  } else if (what == "resolved" && words.size() == 2) {
    out.kind = Kind::resolved;
  } else if (what == "alerts" && words.size() == 3 && read(words[2], out.count)) {
    out.kind = Kind::alerts;
  } else if (what == "missing" && words.size() > 2) {
    out.kind = Kind::missing;
    out.input = from_word(words, 2);
  } else {
    return Error{
        "expect at KIND N ... | last ... | nothing [at SEVERITY] | resolved | alerts N | missing "
        "..."};
  }
  if (!fields.ok()) return fields.error();
  return out;
}

}  // namespace trainwatch::cases
