// The saved form of the rules: a row per rule that identifies it, and one per instance.
#include <charconv>
#include <string>

#include "pipeline/engine/rule_host.h"

namespace trainwatch {
namespace {

std::string key_of(const RuleConfig& rule) {
  return "rule/" + std::string(rule.spec->id);
}

// Equal for rules that are equal to users.
std::string fingerprint(const RuleConfig& rule) {
  std::string text = std::to_string(rule.spec->version);
  for (const Param& param : rule.spec->params) {
    text.append(" ").append(param.name).append("=").append(param.print(rule.params));
  }
  return text + " for=" + std::to_string(rule.hold.count()) +
         " keep_firing_for=" + std::to_string(rule.keep.count());
}

}  // namespace

void RuleHost::save(StateRows& rows, bool all) {
  for (std::uint32_t rule = 0; rule < rules_.size(); ++rule) {
    rows.put(key_of(rules_[rule]), [&](StateIo& io) {
      std::string print = fingerprint(rules_[rule]);
      io(print);
      io(evaluations_[rule]);
    });
    for (const auto& made : instances_[rule]) {
      if (!all && !made->ran) continue;
      made->ran = false;
      const auto subject = static_cast<std::uint32_t>(made->subject);
      rows.put(key_of(rules_[rule]) + "/" + std::to_string(subject),
               [&](StateIo& io) { made->impl->state(io); });
    }
  }
}

std::vector<bool> RuleHost::load(const StoredRows& rows) {
  std::vector<bool> same(rules_.size());
  for (std::uint32_t rule = 0; rule < rules_.size(); ++rule) {
    const std::string key = key_of(rules_[rule]);
    std::string print;
    std::uint64_t evaluations = 0;
    const bool known = load_row(rows, key, [&](StateIo& io) {
      io(print);
      io(evaluations);
    });
    same[rule] = known && print == fingerprint(rules_[rule]);
    if (same[rule]) evaluations_[rule] = evaluations;
    for_rows(rows, key + "/", [&](std::string_view subject, std::string_view bytes) {
      load_instance(rule, subject, same[rule] ? bytes : std::string_view());
      return true;
    });
  }
  return same;
}

void RuleHost::load_instance(std::uint32_t rule, std::string_view subject, std::string_view bytes) {
  std::uint32_t number = 0;
  const char* const end = subject.data() + subject.size();
  const auto [stop, error] = std::from_chars(subject.data(), end, number);
  if (error != std::errc{} || stop != end || number >= interner_.subjects.size()) return;
  const auto id = static_cast<SubjectId>(number);
  Instance* const made = own_instance(rule, id);
  made->ran = true;
  StateIo io = StateIo::loading(bytes);
  made->impl->state(io);
  if (io.complete()) return;
  const RuleConfig& config = rules_[rule];
  made->impl = config.spec->make(config.params, context_of(id));
}

}  // namespace trainwatch
