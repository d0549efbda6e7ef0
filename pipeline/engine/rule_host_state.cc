// SPDX-License-Identifier: Apache-2.0
// The saved form of the rules: a row per rule that identifies it, and one per instance.
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
  evaluations_saved_.resize(rules_.size());
  for (std::uint32_t rule = 0; rule < rules_.size(); ++rule) {
    if (!all && evaluations_saved_[rule] == evaluations_[rule]) continue;
    evaluations_saved_[rule] = evaluations_[rule];
    rows.put(key_of(rules_[rule]), [&](StateIo& io) {
      std::string print = fingerprint(rules_[rule]);
      io(print);
      io(evaluations_[rule]);
    });
  }
  for (Instance* const instance : ran_) {
    instance->ran = false;
    if (!all) save_instance(rows, *instance);
  }
  ran_.clear();
  if (!all) return;
  for (const auto& of_rule : instances_) {
    for (const auto& instance : of_rule) save_instance(rows, *instance);
  }
}

void RuleHost::save_instance(StateRows& rows, const Instance& instance) const {
  const auto subject = static_cast<std::uint32_t>(instance.subject);
  rows.put(key_of(rules_[instance.rule]) + "/" + std::to_string(subject),
           [&instance](StateIo& io) { instance.impl->state(io); });
}

std::vector<bool> RuleHost::load(const SavedState& saved) {
  std::vector<bool> same(rules_.size());
  for (std::uint32_t rule = 0; rule < rules_.size(); ++rule) {
    const std::string key = key_of(rules_[rule]);
    std::string print;
    std::uint64_t evaluations = 0;
    const bool known = load_row(saved, key, [&](StateIo& io) {
      io(print);
      io(evaluations);
    });
    same[rule] = known && print == fingerprint(rules_[rule]);
    if (same[rule]) evaluations_[rule] = evaluations;
    for_rows(saved, key + "/", [&](std::string_view number, std::string_view bytes) {
      if (const auto subject = saved.subject(number)) {
        load_instance(rule, *subject, saved.open(same[rule] ? bytes : std::string_view()));
      }
      return true;
    });
  }
  return same;
}

void RuleHost::load_instance(std::uint32_t rule, SubjectId subject, StateIo io) {
  Instance* const made = own_instance(rule, subject);
  note_ran(*made);
  made->impl->state(io);
  if (io.complete()) return;
  const RuleConfig& config = rules_[rule];
  made->impl = config.spec->make(config.params, context_of(subject));
}

}  // namespace trainwatch
