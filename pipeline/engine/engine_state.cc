// SPDX-License-Identifier: Apache-2.0
// What an engine saves, and how another one continues from it.
#include <vector>

#include "pipeline/engine/engine.h"

namespace trainwatch {

std::size_t Engine::names_known() const {
  return interner_.symbols.size() + interner_.subjects.size() + interner_.series.size();
}

void Engine::save(StateRows& rows, bool all) {
  if (all || names_known() != names_saved_) {  // append-only: the same size is the same content
    rows.put("interner", [&](StateIo& io) { io(interner_); });
    names_saved_ = names_known();
  }
  if (last_seen_.take_changed() || all) {
    rows.put("last_seen", [&](StateIo& io) { io(last_seen_); });
  }
  iterations_.save(rows, all);
  logged_steps_.save(rows, all);
  ledger_.save(rows, all);
  spans_.save(rows, all);
  if (checkpoints_.take_changed() || all) {
    rows.put("checkpoint_writes", [&](StateIo& io) { io(checkpoints_); });
  }
  if (pauses_.take_changed() || all) rows.put("job_pauses", [&](StateIo& io) { io(pauses_); });
  hangs_.save(rows, all);
  metrics_.save(rows, all);
  latest_samples_.save(rows, all);
  if (scalar_metrics_.take_changed() || all) {
    rows.put("scalars", [&](StateIo& io) { io(scalar_metrics_); });
  }
  rows.put("gpu_metrics", [&](StateIo& io) { io(gpu_metrics_); });
  if (cycles_.take_changed() || all) rows.put("cycle_steps", [&](StateIo& io) { io(cycles_); });
  rows.put("latest", [&](StateIo& io) { io(latest_); });
  rows.put("job_times", [&](StateIo& io) { io(job_times_); });
  pending_causes_.save(rows, host_->rules(), all);
  system_.save(rows, all);
  history_.save(rows, all);
  host_->save(rows, all);
  analyses_.save(rows, all);
  book_.save(rows, host_->rules(), all);
}

bool Engine::load(const StoredRows& rows) {
  if (!load_row(rows, "interner", [&](StateIo& io) { io(interner_); })) return false;
  SameIds ids(interner_);
  if (!load_aged({rows, &ids})) return false;
  names_saved_ = names_known();
  return true;
}

bool Engine::load_aged(const SavedState& saved) {
  const bool whole = load_row(saved, "last_seen", [&](StateIo& io) { io(last_seen_); }) &&
                     iterations_.load(saved) && logged_steps_.load(saved) && ledger_.load(saved) &&
                     spans_.load(saved) &&
                     load_row(saved, "checkpoint_writes", [&](StateIo& io) { io(checkpoints_); }) &&
                     load_row(saved, "job_pauses", [&](StateIo& io) { io(pauses_); }) &&
                     hangs_.load(saved) && metrics_.load(saved) && latest_samples_.load(saved) &&
                     load_row(saved, "scalars", [&](StateIo& io) { io(scalar_metrics_); }) &&
                     load_row(saved, "gpu_metrics", [&](StateIo& io) { io(gpu_metrics_); }) &&
                     load_row(saved, "cycle_steps", [&](StateIo& io) { io(cycles_); }) &&
                     load_row(saved, "latest", [&](StateIo& io) { io(latest_); }) &&
                     load_row(saved, "job_times", [&](StateIo& io) { io(job_times_); }) &&
                     system_.load(saved) && history_.load(saved);
  if (!whole) return false;
  analyses_.load(saved);
  const std::vector<bool> kept = host_->load(saved);
  if (!book_.load(saved, host_->rules(), kept, latest_)) return false;
  if (!pending_causes_.load(saved, host_->rules(), kept)) return false;
  host_->want_times(book_.waiting());
  return true;
}

}  // namespace trainwatch
