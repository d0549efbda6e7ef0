// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/pending_causes.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace trainwatch {
namespace {

constexpr std::string_view kPendingRows = "pending_cause/";

}  // namespace

void PendingCauses::push(std::uint64_t number, Entry entry) {
  ++waiting_[std::string(node_of(entry))];
  numbers_[entry.id] = number;
  entries_.emplace_hint(entries_.end(), number, std::move(entry));
}

PendingCauses::Entries::iterator PendingCauses::drop(Entries::iterator entry) {
  if (entry->first < unsaved_) forgotten_.push_back(entry->first);
  const auto waiting = waiting_.find(node_of(entry->second));
  if (--waiting->second == 0) waiting_.erase(waiting);
  numbers_.erase(entry->second.id);
  return entries_.erase(entry);
}

template <class Gone>
void PendingCauses::drop_if(Gone&& gone) {
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    entry = gone(entry->second) ? drop(entry) : std::next(entry);
  }
}

void PendingCauses::add(Entry entry) {
  if (const auto known = numbers_.find(entry.id); known != numbers_.end()) {
    drop(entries_.find(known->second));
  }
  if (entries_.size() == kMost) drop(entries_.begin());
  const std::uint64_t number = entries_.empty() ? 0 : entries_.rbegin()->first + 1;
  unsaved_ = std::min(unsaved_, number);
  push(number, std::move(entry));
}

void PendingCauses::note_node(std::string_view node) {
  if (!waiting_.contains(node) || std::ranges::find(sampled_, node) != sampled_.end()) return;
  sampled_.emplace_back(node);
}

// Most samples are of nodes for which nothing waits: a large job has a thousand causes that wait.
void PendingCauses::settle_sampled(const Settle& settle) {
  last_sampled_ = SubjectId::none;
  if (sampled_.empty()) return;
  drop_if([&](const Entry& entry) {
    const bool asks = std::ranges::find(sampled_, node_of(entry)) != sampled_.end();
    return asks && settle(entry);
  });
  sampled_.clear();
}

void PendingCauses::settle_all(const Settle& settle) {
  drop_if(settle);
}

void PendingCauses::clear() {
  drop_if([](const Entry&) { return true; });
}

void PendingCauses::save(StateRows& rows, std::span<const RuleConfig> rules, bool all) {
  for (const std::uint64_t number : forgotten_) rows.remove(numbered_row(kPendingRows, number));
  forgotten_.clear();
  auto entry = all ? entries_.begin() : entries_.lower_bound(unsaved_);
  for (; entry != entries_.end(); ++entry) {
    rows.put(numbered_row(kPendingRows, entry->first), [&](StateIo& io) {
      std::string rule(rules[entry->second.key.rule].spec->id);
      io(rule);
      io(entry->second);
    });
    unsaved_ = entry->first + 1;
  }
}

bool PendingCauses::load(const SavedState& saved, std::span<const RuleConfig> rules,
                         const std::vector<bool>& kept) {
  return for_rows(saved, kPendingRows, [&](std::string_view digits, std::string_view value) {
    const auto number = number_in<std::uint64_t>(digits);
    if (!number) return false;
    Entry entry;
    StateIo io = saved.open(value);
    std::string rule;
    io(rule);
    io(entry);
    const bool gone = io.take_gone();
    if (!io.complete()) return false;
    entry.key.rule = rule_number(rules, rule);
    const bool known = entry.key.rule < rules.size() && kept[entry.key.rule];
    if (known && !gone) push(*number, std::move(entry));
    unsaved_ = *number + 1;
    return true;
  });
}

}  // namespace trainwatch
