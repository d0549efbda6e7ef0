// SPDX-License-Identifier: Apache-2.0
// Two ways to keep state that look right until the process dies. The simulation must find both.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "model/plan.h"
#include "support/memory_store.h"
#include "support/state_commits.h"

namespace trainwatch::test {

class StoreAround : public StateStore {
 public:
  explicit StoreAround(MemoryStore& inner) : inner_(inner) {}
  const std::string& epoch() const override { return inner_.epoch(); }
  Result<std::vector<StateRow>> load() override { return inner_.load(); }
  Result<PublishedAlerts> commit(const Commit& commit) override { return inner_.commit(commit); }
  Result<PublishedAlerts> alerts_after(std::uint64_t after, std::size_t limit) override {
    return inner_.alerts_after(after, limit);
  }
  Result<PublishedAlerts> firing(std::size_t limit) override { return inner_.firing(limit); }
  Result<PublishedAlerts> latest(const std::string& id) override { return inner_.latest(id); }
  std::uint64_t first_seq() const override { return inner_.first_seq(); }
  std::uint64_t last_seq() const override { return inner_.last_seq(); }
  const Acknowledged& acknowledged() const override { return inner_.acknowledged(); }
  Result<Notes> load_notes() override { return inner_.load_notes(); }

  // The process dies: what was not written is lost.
  virtual void die() {}

 protected:
  MemoryStore& inner_;
};

// Keeps how far files were read; rules and alerts stay as at the first commit.
class OffsetsOnly final : public StoreAround {
 public:
  using StoreAround::StoreAround;
  Result<std::vector<StateRow>> load() override {
    auto rows = inner_.load();
    if (!rows) return rows;
    std::vector<StateRow> kept;
    for (StateRow& row : *rows) {
      if (is_offset(row.key)) kept.push_back(std::move(row));
    }
    for (const auto& [key, value] : first_) kept.push_back({key, value});
    return kept;
  }
  Result<PublishedAlerts> commit(const Commit& streamed) override {
    const Commit commit = with_all_rows(streamed);
    if (first_.empty()) {
      for (const StateRow& row : commit.changed) {
        if (!is_offset(row.key)) first_[row.key] = row.value;
      }
    }
    return inner_.commit(commit);
  }

 private:
  static bool is_offset(const std::string& key) {
    return key.starts_with("file/") || key.starts_with("lane/") || key.starts_with("source/");
  }
  std::map<std::string, std::string> first_;
};

// Lets the alerts of a commit be seen before the commit is made.
class PublishBeforeCommit final : public StoreAround {
 public:
  using StoreAround::StoreAround;
  Result<PublishedAlerts> commit(const Commit& commit) override {
    if (late_) {
      auto done = inner_.commit(*late_);
      if (!done) return done;
    }
    late_ = with_all_rows(commit);
    MemoryStore ahead = inner_;
    return ahead.commit(*late_);
  }
  void die() override { late_.reset(); }

 private:
  std::optional<Commit> late_;
};

inline std::unique_ptr<StoreAround> store_around(MemoryStore& store, Discipline discipline) {
  switch (discipline) {
    case Discipline::offsets_only:
      return std::make_unique<OffsetsOnly>(store);
    case Discipline::publish_before_commit:
      return std::make_unique<PublishBeforeCommit>(store);
    default:
      return std::make_unique<StoreAround>(store);
  }
}

}  // namespace trainwatch::test
