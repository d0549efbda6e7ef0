#include "rules/case_file.h"

#include "rules/catalog.h"
#include "rules/series_builder.h"
#include "rules/words.h"

namespace trainwatch::cases {
namespace {

bool read_severity(std::string_view text, std::optional<Severity>& out) {
  for (const Severity severity : {Severity::info, Severity::warning, Severity::critical}) {
    if (text == to_string(severity)) out = severity;
  }
  return out && text == to_string(*out);
}

bool read_state(std::string_view text, std::optional<Alert::State>& out) {
  if (text == "firing") out = Alert::State::firing;
  if (text == "resolved") out = Alert::State::resolved;
  return text == "firing" || text == "resolved";
}

Status read_wanted(const Words& words, std::size_t from, Wanted& out) {
  for (std::size_t i = from; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const std::size_t equals = word.find('=');
    if (word == "says") {
      out.says = std::string(words[i + 1].data(), words.back().data() + words.back().size());
      return success();
    }
    if (equals != std::string_view::npos) {
      out.fields.emplace_back(word.substr(0, equals), word.substr(equals + 1));
    } else if (!read_state(word, out.state) && !read_severity(word, out.severity)) {
      return Error{"cannot read '" + std::string(word) + "'"};
    }
  }
  return success();
}

Status read_expectation(const Words& words, Expectation& out) {
  using Kind = Expectation::Kind;
  const std::string_view what = words.size() > 1 ? words[1] : "";
  if (what == "at" && words.size() > 4 && read(words[3], out.label.number)) {
    out.kind = Kind::at;
    out.label.kind = words[2];
    return read_wanted(words, 4, out.wanted);
  }
  if (what == "last" && words.size() > 2) {
    out.kind = Kind::last;
    return read_wanted(words, 2, out.wanted);
  }
  if (what == "nothing") {
    out.kind = Kind::nothing;
    const bool any = words.size() == 2;
    if (any ||
        (words.size() == 4 && words[2] == "at" && read_severity(words[3], out.wanted.severity))) {
      return success();
    }
  }
  if (what == "resolved" && words.size() == 2) {
    out.kind = Kind::resolved;
    return success();
  }
  if (what == "alerts" && words.size() == 3 && read(words[2], out.count)) {
    out.kind = Kind::alerts;
    return success();
  }
  if (what == "missing" && words.size() > 2) {
    out.kind = Kind::missing;
    out.input = std::string(words[2].data(), words.back().data() + words.back().size());
    return success();
  }
  return Error{
      "expect at KIND N ... | last ... | nothing [at SEVERITY] | resolved | alerts N | missing "
      "..."};
}

Status read_line(const Words& words, int line, Case& made, SeriesBuilder& series) {
  if (words[0] == "rule" && words.size() == 2) {
    const RuleSpec* spec = find_rule(words[1]);
    if (spec == nullptr) return Error{"no rule '" + std::string(words[1]) + "'"};
    made.rule.emplace(*spec);
    return success();
  }
  if (!made.rule) return Error{"the first line names the rule"};
  if (words[0] == "set" && words.size() == 3) return made.rule->set(words[1], words[2]);
  if (words[0] == "expect") {
    Expectation& expectation = made.expectations.emplace_back();
    expectation.line = line;
    return read_expectation(words, expectation);
  }
  const Result<bool> known = series.line(words);
  if (!known.ok()) return known.error();
  if (!*known) return Error{"cannot read '" + std::string(words[0]) + "'"};
  return success();
}

}  // namespace

Result<Case> parse_case(std::string_view text) {
  Case made;
  SeriesBuilder series(made);
  int number = 0;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    std::string_view line = text.substr(from, end - from);
    from = end + 1;
    ++number;
    line = line.starts_with('#') ? "" : line.substr(0, line.find(" #"));
    while (line.ends_with(' ')) line.remove_suffix(1);
    const Words words = split(line);
    if (words.empty()) continue;
    if (const Status done = read_line(words, number, made, series); !done.ok()) {
      return Error{"line " + std::to_string(number) + ": " + done.error().message};
    }
  }
  if (made.expectations.empty()) return Error{"nothing is expected"};
  return made;
}

}  // namespace trainwatch::cases
