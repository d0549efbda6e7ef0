// SPDX-License-Identifier: Apache-2.0
// A store in memory, which outlives the pipeline that is killed.
#pragma once

#include <algorithm>
#include <deque>

#include "pipeline/engine/alert_json.h"
#include "pipeline/state/state_store.h"

namespace trainwatch {

class MemoryStore final : public StateStore {
 public:
  explicit MemoryStore(std::string epoch, Retention retention = {})
      : epoch_(std::move(epoch)), retention_(retention) {}

  const std::string& epoch() const override { return epoch_; }
  Result<std::vector<StateRow>> load() override;
  Result<PublishedAlerts> commit(const Commit& commit) override;
  Result<PublishedAlerts> alerts_after(std::uint64_t after, std::size_t limit) override;
  Result<PublishedAlerts> firing(std::size_t limit) override;
  Result<PublishedAlerts> latest(const std::string& id) override;
  std::uint64_t first_seq() const override;
  std::uint64_t last_seq() const override { return last_seq_; }
  const Acknowledged& acknowledged() const override { return acknowledged_; }
  Result<Notes> load_notes() override { return notes_; }
  std::uint64_t subscribers_forgotten() const override { return subscribers_forgotten_; }

  // While not empty, every commit fails with this message.
  void fail(std::string why) { failure_ = std::move(why); }

 private:
  struct Kept {
    std::shared_ptr<const PublishedAlert> alert;
    Time stored{};
  };
  Status write_rows(const Commit& commit);
  void prune(Time now);

  std::string epoch_;
  Retention retention_;
  std::map<std::string, std::string> rows_;
  std::map<std::string, LastPublished> last_published_;  // by alert id
  std::deque<Kept> alerts_;
  std::uint64_t last_seq_ = 0;
  Acknowledged acknowledged_;
  Notes notes_;
  std::map<std::string, Time> seen_;  // when each acknowledged
  std::uint64_t subscribers_forgotten_ = 0;
  std::string failure_;
};

inline Result<std::vector<StateRow>> MemoryStore::load() {
  std::vector<StateRow> rows;
  for (const auto& [key, value] : rows_) rows.push_back({key, value});
  return rows;
}

inline Result<PublishedAlerts> MemoryStore::commit(const Commit& commit) {
  if (!failure_.empty()) return Error{failure_};
  const Status written = write_rows(commit);
  if (!written) return written.error();
  for (const auto& [name, seq] : commit.acknowledged) {
    acknowledged_[name] = seq;
    seen_[name] = commit.now;
  }
  for (const std::string& name : commit.forgotten) {
    acknowledged_.erase(name);
    seen_.erase(name);
  }
  for (const auto& [key, value] : commit.notes) {
    value.empty() ? static_cast<void>(notes_.erase(key)) : static_cast<void>(notes_[key] = value);
  }
  while (subscribers(acknowledged_) > kMostSubscribers) {
    const auto oldest = std::ranges::min_element(seen_, {}, [](const auto& entry) {
      return std::tuple(entry.first.starts_with(kReceiverPrefix), entry.second, entry.first);
    });
    acknowledged_.erase(oldest->first);
    seen_.erase(oldest);
    ++subscribers_forgotten_;
  }
  PublishedAlerts published;
  for (Alert alert : commit.alerts) {
    std::string json = to_json(alert);
    std::string content = content_hash(json);
    const auto known = last_published_.find(alert.id);
    if (known != last_published_.end() && !is_news(known->second, alert, content)) continue;
    alert.seq = ++last_seq_;
    last_published_[alert.id] = {alert.state, alert.updated_at, std::move(content), alert.seq};
    published.push_back(std::make_shared<const PublishedAlert>(
        trainwatch::published(alert, std::move(json), epoch_)));
    alerts_.push_back({published.back(), commit.now});
  }
  prune(commit.now);
  return published;
}

inline Status MemoryStore::write_rows(const Commit& commit) {
  for (const StateRow& row : commit.changed) rows_[row.key] = row.value;
  for (const std::string& key : commit.removed) rows_.erase(key);
  class Writer final : public StateRowWriter {
   public:
    explicit Writer(std::map<std::string, std::string>& rows) : rows_(rows) {}
    Status put(const std::string& key, std::string_view value) override {
      rows_[key] = value;
      return success();
    }
    Status erase(const std::string& key) override {
      rows_.erase(key);
      return success();
    }

   private:
    std::map<std::string, std::string>& rows_;
  };
  Writer writer(rows_);
  return commit.write_rows ? commit.write_rows(writer) : success();
}

inline void MemoryStore::prune(Time now) {
  std::uint64_t wanted = last_seq_ + 1;  // the oldest that a subscriber has not acknowledged
  for (const auto& [name, seq] : acknowledged_) wanted = std::min(wanted, seq + 1);
  while (!alerts_.empty()) {
    const Kept& oldest = alerts_.front();
    const bool over = alerts_.size() > retention_.alerts || now - oldest.stored > retention_.age;
    const bool held = oldest.alert->seq >= wanted && alerts_.size() <= 2 * retention_.alerts;
    if (!over || held) return;
    const auto last_published = last_published_.find(oldest.alert->id);
    const bool last_word =
        last_published != last_published_.end() && last_published->second.seq == oldest.alert->seq;
    if (last_word && last_published->second.state == Alert::State::resolved)
      last_published_.erase(last_published);
    alerts_.pop_front();
  }
}

inline Result<PublishedAlerts> MemoryStore::alerts_after(std::uint64_t after, std::size_t limit) {
  auto entry =
      std::upper_bound(alerts_.begin(), alerts_.end(), after,
                       [](std::uint64_t seq, const Kept& kept) { return seq < kept.alert->seq; });
  PublishedAlerts found;
  for (; entry != alerts_.end() && found.size() < limit; ++entry) found.push_back(entry->alert);
  return found;
}

inline Result<PublishedAlerts> MemoryStore::firing(std::size_t limit) {
  PublishedAlerts found;
  for (const Kept& kept : alerts_) {
    const auto last = last_published_.find(kept.alert->id);
    const bool latest = last != last_published_.end() && last->second.seq == kept.alert->seq;
    if (latest && kept.alert->state == Alert::State::firing && found.size() < limit) {
      found.push_back(kept.alert);
    }
  }
  return found;
}

inline Result<PublishedAlerts> MemoryStore::latest(const std::string& id) {
  const auto last = last_published_.find(id);
  for (const Kept& kept : alerts_) {
    if (last != last_published_.end() && last->second.seq == kept.alert->seq)
      return PublishedAlerts{kept.alert};
  }
  return PublishedAlerts{};
}

inline std::uint64_t MemoryStore::first_seq() const {
  return alerts_.empty() ? last_seq_ + 1 : alerts_.front().alert->seq;
}

}  // namespace trainwatch
