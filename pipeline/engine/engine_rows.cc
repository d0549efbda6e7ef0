// What of the engine survives a restart.
#include <algorithm>
#include <string>

#include "pipeline/engine/engine.h"

namespace trainwatch {

std::size_t Engine::names_known() const {
  return vocabulary_.symbols.size() + vocabulary_.subjects.size() + vocabulary_.series.size();
}

void Engine::save(StateRows& rows, bool all) {
  if (all || names_known() != names_saved_) {  // append-only: the same size is the same content
    rows.put("vocabulary", [&](StateIo& io) { io(vocabulary_); });
    names_saved_ = names_known();
  }
  rows.put("steps", [&](StateIo& io) { io(steps_); });
  rows.put("spans", [&](StateIo& io) { io(spans_); });
  rows.put("metrics", [&](StateIo& io) { io(metrics_); });
  rows.put("gpu_metrics", [&](StateIo& io) { io(gpu_metrics_); });
  if (cycles_.take_changed() || all) rows.put("cycle_steps", [&](StateIo& io) { io(cycles_); });
  rows.put("latest", [&](StateIo& io) { io(latest_); });
  rows.put("unsettled", [&](StateIo& io) { save_unsettled(io); });
  system_.save(rows, all);
  host_->save(rows, all);
  analyses_.save(rows, all);
  book_.save(rows, host_->rules(), all);
}

bool Engine::load(const StoredRows& rows) {
  const bool whole = load_row(rows, "vocabulary", [&](StateIo& io) { io(vocabulary_); }) &&
                     load_row(rows, "steps", [&](StateIo& io) { io(steps_); }) &&
                     load_row(rows, "spans", [&](StateIo& io) { io(spans_); }) &&
                     load_row(rows, "metrics", [&](StateIo& io) { io(metrics_); }) &&
                     load_row(rows, "gpu_metrics", [&](StateIo& io) { io(gpu_metrics_); }) &&
                     load_row(rows, "cycle_steps", [&](StateIo& io) { io(cycles_); }) &&
                     load_row(rows, "latest", [&](StateIo& io) { io(latest_); }) &&
                     system_.load(rows);
  if (!whole) return false;
  names_saved_ = names_known();
  analyses_.load(rows);
  const std::vector<bool> kept = host_->load(rows);
  if (!book_.load(rows, host_->rules(), kept, latest_)) return false;
  const auto load = [&](StateIo& io) { load_unsettled(io, kept); };
  if (!load_row(rows, "unsettled", load)) return false;
  host_->want_times(book_.waiting());
  return true;
}

void Engine::save_unsettled(StateIo& io) {
  auto count = static_cast<std::uint32_t>(unsettled_.size());
  io(count);
  for (Unsettled& entry : unsettled_) {
    std::string rule(host_->rules()[entry.key.rule].spec->id);
    io(rule);
    io(entry.key.subject);
    io(entry.key.name);
    io(entry.id);
    entry.verdict.save(io);
  }
}

void Engine::load_unsettled(StateIo& io, const std::vector<bool>& kept) {
  std::uint32_t count = 0;
  io(count);
  for (std::uint32_t i = 0; i < count && io.ok(); ++i) {
    std::string rule;
    Unsettled entry;
    io(rule);
    io(entry.key.subject);
    io(entry.key.name);
    io(entry.id);
    entry.verdict.save(io);
    for (std::uint32_t number = 0; number < kept.size(); ++number) {
      if (!kept[number] || host_->rules()[number].spec->id != rule) continue;
      entry.key.rule = number;
      unsettled_.push_back(entry);
    }
  }
}

}  // namespace trainwatch
