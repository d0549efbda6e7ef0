#include "pipeline/engine/pending_causes.h"

#include <algorithm>

namespace trainwatch {
namespace {

constexpr std::string_view kPendingRows = "pending_cause/";

}  // namespace

void PendingCauses::push(Numbered one) {
  ++waiting_[std::string(node_of(one))];
  entries_.push_back(std::move(one));
}

template <class Gone>
void PendingCauses::drop_if(Gone&& gone) {
  std::erase_if(entries_, [&](const Numbered& one) {
    if (!gone(one)) return false;
    if (one.stored) forgotten_.push_back(one.number);
    const auto waiting = waiting_.find(node_of(one));
    if (--waiting->second == 0) waiting_.erase(waiting);
    return true;
  });
}

void PendingCauses::add(Entry entry) {
  drop_if([&](const Numbered& known) { return known.entry.id == entry.id; });
  if (entries_.size() == kMost) {
    const std::uint64_t oldest = entries_.front().number;
    drop_if([oldest](const Numbered& known) { return known.number == oldest; });
  }
  push({std::move(entry), entries_.empty() ? 0 : entries_.back().number + 1});
}

void PendingCauses::note_node(std::string_view node) {
  if (!waiting_.contains(node) || std::ranges::find(sampled_, node) != sampled_.end()) return;
  sampled_.emplace_back(node);
}

// Most samples are of nodes for which nothing waits: a large job has a thousand causes that wait.
void PendingCauses::settle_sampled(const Settle& settle) {
  last_sampled_ = SubjectId::none;
  if (sampled_.empty()) return;
  drop_if([&](const Numbered& one) {
    const bool asks = std::ranges::find(sampled_, node_of(one)) != sampled_.end();
    return asks && settle(one.entry);
  });
  sampled_.clear();
}

void PendingCauses::settle_all(const Settle& settle) {
  drop_if([&](const Numbered& one) { return settle(one.entry); });
}

void PendingCauses::clear() {
  drop_if([](const Numbered&) { return true; });
}

void PendingCauses::save(StateRows& rows, std::span<const RuleConfig> rules, bool all) {
  for (const std::uint64_t number : forgotten_) rows.remove(numbered_row(kPendingRows, number));
  forgotten_.clear();
  for (Numbered& one : entries_) {
    if (one.stored && !all) continue;
    one.stored = true;
    rows.put(numbered_row(kPendingRows, one.number), [&](StateIo& io) {
      std::string rule(rules[one.entry.key.rule].spec->id);
      io(rule);
      io(one);
    });
  }
}

bool PendingCauses::load(const SavedState& saved, std::span<const RuleConfig> rules,
                         const std::vector<bool>& kept) {
  return for_rows(saved, kPendingRows, [&](std::string_view digits, std::string_view value) {
    const auto number = number_in<std::uint64_t>(digits);
    if (!number) return false;
    Numbered one{{}, *number, true};
    StateIo io = saved.open(value);
    std::string rule;
    io(rule);
    io(one);
    const bool gone = io.take_gone();
    if (!io.complete()) return false;
    one.entry.key.rule = rule_number(rules, rule);
    const bool known = one.entry.key.rule < rules.size() && kept[one.entry.key.rule];
    if (known && !gone) push(std::move(one));
    return true;
  });
}

}  // namespace trainwatch
