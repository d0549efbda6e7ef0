// SPDX-License-Identifier: Apache-2.0
// Alerts whose cause may still change when other streams catch up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "pipeline/engine/alert_book.h"
#include "trainwatch/interner.h"
#include "trainwatch/rule.h"
#include "trainwatch/state_rows.h"

namespace trainwatch {

class PendingCauses {
 public:
  struct Entry {
    AlertBook::Key key;
    std::string id;   // of the alert
    Verdict verdict;  // as the rule gave it

    void state(StateIo& io) {  // the rule is stored by name
      io(key.subject);
      io(key.name);
      io(id);
      io(verdict);
    }
  };
  // Updates the cause of an alert. True: it is final, and the alert waits no more.
  using Settle = std::function<bool(const Entry&)>;

  // The oldest gives way to one more.
  static constexpr std::size_t kMost = 1024;

  explicit PendingCauses(const Interner& interner) : interner_(interner) {}

  bool empty() const { return entries_.empty(); }
  // Replaces the entry of the same alert.
  void add(Entry entry);
  // Samples of this subject's node were read: they may settle what waits for the node.
  void note_sampled(SubjectId subject) {
    if (subject == last_sampled_) return;
    last_sampled_ = subject;
    note_node(interner_.subjects[subject].node);
  }
  // Calls `settle` for the entries whose node was sampled since the last call, oldest first.
  void settle_sampled(const Settle& settle);
  // Calls `settle` for all entries.
  void settle_all(const Settle& settle);
  void clear();

  // Puts what changed since the last call; `all`: everything. Rules are stored by name.
  void save(StateRows& rows, std::span<const RuleConfig> rules, bool all);
  // Only for a new object. Skips entries of rules that are not `kept`; the next save must be of
  // everything, so that their rows leave the store.
  bool load(const SavedState& saved, std::span<const RuleConfig> rules,
            const std::vector<bool>& kept);

 private:
  using Entries = std::map<std::uint64_t, Entry>;  // numbered in the order of arrival

  void note_node(std::string_view node);
  std::string_view node_of(const Entry& entry) const {
    return interner_.subjects[entry.key.subject].node;
  }
  void push(std::uint64_t number, Entry entry);
  Entries::iterator drop(Entries::iterator entry);
  template <class Gone>
  void drop_if(Gone&& gone);

  const Interner& interner_;
  Entries entries_;
  std::unordered_map<std::string, std::uint64_t> numbers_;   // of the entries, by alert
  std::map<std::string, std::size_t, std::less<>> waiting_;  // number of entries by node
  std::vector<std::string> sampled_;  // nodes of some entry, since settle_sampled()
  SubjectId last_sampled_ = SubjectId::none;
  std::uint64_t unsaved_ = 0;             // entries from this number on have no row
  std::vector<std::uint64_t> forgotten_;  // stored numbers that are to be removed
};

}  // namespace trainwatch
