// SPDX-License-Identifier: Apache-2.0
#include "rules/expectation_check.h"

#include <simdjson.h>

#include <algorithm>
#include <sstream>

#include "pipeline/engine/alert_json.h"

namespace trainwatch::cases {
namespace {

using Kind = Expectation::Kind;

std::string text_of(const simdjson::dom::element& value) {
  return value.is_string() ? std::string(value.get_string().value()) : simdjson::minify(value);
}

// Numbers are equal as numbers, all else as text.
bool equals(const simdjson::dom::element& value, const std::string& text) {
  double number = 0;
  if (value.is_number()) return read(text, number) && number == value.get_double().value();
  return text_of(value) == text;
}

std::string wrong_at(const Expectation& expectation, const Case& made,
                     const std::vector<Emitted>& emitted) {
  std::string wrong;
  for (const Emitted& one : emitted) {
    if (made.labels[one.event] != expectation.label) continue;
    const std::string reason = mismatch(one.alert, expectation.fields);
    if (reason.empty()) return "";
    wrong += (wrong.empty() ? "" : "; in another one, ") + reason;
  }
  return wrong.empty() ? "no alert was emitted at " + to_string(expectation.label) : wrong;
}

std::string wrong_above(Severity least, const std::vector<Emitted>& emitted) {
  const auto found = std::ranges::find_if(
      emitted, [&](const Emitted& one) { return one.alert.severity >= least; });
  if (found == emitted.end()) return "";
  return "an alert of severity " + std::string(to_string(found->alert.severity));
}

std::string wrong_unresolved(const std::vector<Emitted>& emitted) {
  std::map<std::string, Alert::State> states;
  for (const Emitted& one : emitted) states[one.alert.id] = one.alert.state;
  for (const auto& [id, state] : states) {
    if (state == Alert::State::firing) return id + " is firing at the end";
  }
  return "";
}

std::string listed(const std::set<std::string>& missing) {
  std::string list = "missing is";
  for (const std::string& one : missing) list += " '" + one + "'";
  return list;
}

std::string wrong_missing(const std::string& input, const std::set<std::string>& missing) {
  if (missing.contains(input)) return "";
  return missing.empty() ? "nothing is missing" : listed(missing);
}

bool demands_an_alert(const Expectation& expectation) {
  switch (expectation.kind) {
    case Kind::at:
    case Kind::last:
    case Kind::resolved:
      return true;
    case Kind::alerts:
      return expectation.count > 0;
    case Kind::nothing:
    case Kind::missing:
      return false;
  }
  return false;
}

// In a few words; empty when the expectation is met.
std::string why_unmet(const Expectation& expectation, const Case& made, const Outcome& outcome) {
  const std::vector<Emitted>& emitted = outcome.emitted;
  if (emitted.empty() && demands_an_alert(expectation)) return why_silent(outcome.judged);
  switch (expectation.kind) {
    case Kind::at:
      return wrong_at(expectation, made, emitted);
    case Kind::last:
      return mismatch(emitted.back().alert, expectation.fields);
    case Kind::nothing:
      return wrong_above(expectation.least, emitted);
    case Kind::resolved:
      return wrong_unresolved(emitted);
    case Kind::alerts: {
      const std::size_t count = finals(emitted).size();
      return count == expectation.count ? "" : "the number of alerts is " + std::to_string(count);
    }
    case Kind::missing:
      return wrong_missing(expectation.input, outcome.judged.missing);
  }
  return "";
}

}  // namespace

std::string why_silent(const Judged& judged) {
  const std::string silent = "the rule gave no verdict: ";
  if (judged.evaluations == 0) return silent + "no event reached it";
  if (!judged.missing.empty()) return silent + "it abstains, " + listed(judged.missing);
  if (judged.warming > 0) return silent + "it is still warming up";
  return silent + "it found nothing in " + std::to_string(judged.evaluations) + " evaluations";
}

std::string mismatch(const Alert& alert, const std::vector<Field>& fields) {
  const std::string json = to_json(alert);
  simdjson::dom::parser parser;
  const simdjson::dom::element root = parser.parse(json);
  std::string reasons;
  for (const Field& field : fields) {
    std::string pointer = "/" + field.path;
    std::ranges::replace(pointer, '.', '/');
    simdjson::dom::element value;
    const bool known = root.at_pointer(pointer).get(value) == simdjson::SUCCESS;
    if (known && equals(value, field.value)) continue;
    reasons += (reasons.empty() ? "" : ", ") +
               (known ? field.path + " is " + text_of(value) : "the alert has no " + field.path);
  }
  return reasons;
}

std::string unmet(const Expectation& expectation, const Case& made, const Outcome& outcome) {
  const std::string reason = why_unmet(expectation, made, outcome);
  if (reason.empty()) return "";
  std::ostringstream out;
  out << "wanted: " << expectation.text << "\nbut:    " << reason << "\nalerts:";
  if (outcome.emitted.empty()) out << " none";
  for (const Emitted& one : outcome.emitted) {
    out << "\n  at " << to_string(made.labels[one.event]) << ": " << to_json(one.alert);
  }
  return std::move(out).str();
}

}  // namespace trainwatch::cases
