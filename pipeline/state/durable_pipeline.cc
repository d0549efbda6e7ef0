// SPDX-License-Identifier: Apache-2.0
#include "pipeline/state/durable_pipeline.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <set>
#include <utility>

#include "pipeline/engine/aged_names.h"
#include "pipeline/engine/alert_json.h"

namespace trainwatch {
namespace {

// Raised whenever the key or content of a row changes. Rows of another version are never
// interpreted: the files are read again.
constexpr std::uint32_t kStateVersion = 51;
constexpr std::string_view kVersionRow = "version";
// Loaded whatever the version, so that self-alerts that were open before an upgrade are resolved
// after it. If its content changes, it needs another key.
constexpr std::string_view kSelfRow = "self";

std::uint32_t version_of(const StoredRows& rows) {
  std::uint32_t version = 0;
  return load_row(rows, kVersionRow, [&](StateIo& io) { io(version); }) ? version : 0;
}

}  // namespace

DurablePipeline::DurablePipeline(std::vector<RuleConfig> rules, IngestOptions options,
                                 StateStore& store, AnalysisList analyses, RunBoth run_both)
    : options_(std::move(options)),
      analyses_(std::move(analyses)),
      run_both_(std::move(run_both)),
      store_(store) {
  make(std::move(rules));
}

void DurablePipeline::make(std::vector<RuleConfig> rules) {
  engine_ = std::make_unique<Engine>(std::move(rules), analyses_, run_both_);
  ingest_ = std::make_unique<Ingest>(*engine_, options_);
}

Status DurablePipeline::start() {
  auto loaded = store_.load();
  if (!loaded) return loaded.error();
  if (loaded->empty()) return success();
  StoredRows rows;
  for (StateRow& row : *loaded) {
    stored_.add(row.key, row.value);
    rows.emplace(std::move(row.key), std::move(row.value));
  }
  if (const std::uint32_t version = version_of(rows); version != kStateVersion) {
    dropped_ = "the stored state is of version " + std::to_string(version) +
               ", this trainwatch needs version " + std::to_string(kStateVersion);
    upgraded_ = true;
  } else if (!engine_->load(rows) || !ingest_->load(rows)) {
    dropped_ = "the stored state is damaged";
    make(engine_->rules());
  }
  SelfAlerts self;
  if (load_row(rows, kSelfRow, [&self](StateIo& io) { io(self); })) self_ = std::move(self);
  return success();
}

void DurablePipeline::reconfigure(std::vector<RuleConfig> rules) {
  engine_->reconfigure(std::move(rules));
  all_ = true;
}

StoredRows DurablePipeline::all_rows() {
  StateRows all;
  engine_->save(all, true);
  ingest_->save(all, true);
  StoredRows rows;
  for (auto& [key, value] : all.changed()) {
    if (value) rows.emplace(key, std::move(*value));
  }
  return rows;
}

// The rows go through new objects, as at a restart, so that no id from before is left anywhere.
bool DurablePipeline::next_round() {
  engine_->last_seen().next_round(engine_->interner());
  ingest_->finish_silent_files();
  const LastSeen seen = engine_->last_seen();
  if (!AgedNames::any_silent(engine_->interner(), seen)) return false;
  std::ranges::move(engine_->take_settled(), std::back_inserter(waiting_.alerts));
  const StoredRows rows = all_rows();
  all_ = true;
  const bool loaded = take_over(rows, std::move(engine_->interner()), seen);
  assert(loaded);
  return loaded;
}

// Continues with what is in `rows`, without what is silent.
bool DurablePipeline::take_over(const StoredRows& rows, Interner old, const LastSeen& seen) {
  engine_ = std::make_unique<Engine>(engine_->rules(), analyses_, run_both_);
  engine_->interner() = old.emptied();
  AgedNames names(std::move(old), seen, engine_->interner());
  auto ingest = std::make_unique<Ingest>(*engine_, options_);
  const SavedState kept{rows, &names};
  const bool loaded = engine_->load_aged(kept) && ingest->load_aged(kept, *ingest_);
  ingest_ = std::move(ingest);
  return loaded;
}

void DurablePipeline::raise_self_alerts(Time now, const std::vector<SelfCondition>& conditions) {
  std::ranges::move(self_.update(now, conditions), std::back_inserter(waiting_.alerts));
}

Status DurablePipeline::end_orphans() {
  constexpr std::size_t kMost = 100'000;
  if (dropped_.empty()) return success();
  const Result<PublishedAlerts> firing = store_.firing(kMost);
  if (!firing) return firing.error();
  std::ranges::move(engine_->take_settled(), std::back_inserter(waiting_.alerts));
  std::set<std::string> known;
  engine_->book().each_firing(
      [&known](std::uint32_t, const Alert& alert) { known.insert(alert.id); });
  for (const Alert& alert : waiting_.alerts) known.insert(alert.id);
  for (const auto& fired : *firing) {
    if (fired->rule.starts_with("_self/") || known.contains(fired->id)) continue;
    std::optional<Alert> alert = alert_from_json(fired->json);
    if (!alert) continue;
    alert->reached = fired->severity;
    alert->spoke = !fired->part;
    alert->state = Alert::State::resolved;
    alert->ended_at = alert->updated_at;
    alert->ended_because = EndedBecause::run_gone;
    waiting_.alerts.push_back(std::move(*alert));
  }
  return success();
}

void DurablePipeline::acknowledge(const std::string& name, std::uint64_t seq) {
  std::erase(waiting_.forgotten, name);
  std::uint64_t& known = waiting_.acknowledged[name];
  known = std::max(known, seq);
}

void DurablePipeline::keep(Notes notes) {
  notes.merge(waiting_.notes);  // those of the same key are replaced
  waiting_.notes = std::move(notes);
}

void DurablePipeline::forget_subscriber(const std::string& name) {
  waiting_.acknowledged.erase(name);
  waiting_.forgotten.push_back(name);
}

void DurablePipeline::put_rows(StateRows& rows) {
  engine_->save(rows, all_);
  ingest_->save(rows, all_);
  rows.put(std::string(kSelfRow), [this](StateIo& io) { io(self_); });
  if (!all_) return;
  rows.put(std::string(kVersionRow), [](StateIo& io) {
    std::uint32_t version = kStateVersion;
    io(version);
  });
}

Result<PublishedAlerts> DurablePipeline::commit(Time now) {
  std::ranges::move(engine_->take_settled(), std::back_inserter(waiting_.alerts));
  waiting_.now = now;
  waiting_.write_rows = [this](StateRowWriter& writer) {
    return stored_.write(writer, all_, [this](StateRows& rows) { put_rows(rows); });
  };
  auto published = store_.commit(waiting_);
  if (!published) {
    stored_.failed();
    all_ = true;  // what had changed is no longer known
    return published;
  }
  stored_.committed();
  all_ = false;
  waiting_ = {};
  return published;
}

PublishedAlerts DurablePipeline::provisional(std::size_t from) const {
  PublishedAlerts made;
  for (std::size_t i = from; i < waiting_.alerts.size(); ++i) {
    const Alert& alert = waiting_.alerts[i];
    made.push_back(std::make_shared<const PublishedAlert>(published(alert, to_json(alert), {})));
  }
  return made;
}

}  // namespace trainwatch
