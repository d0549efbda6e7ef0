// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/snapshot_maker.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace trainwatch {
namespace {

// A path that has just been found missing is no alert yet.
std::string monitor(std::vector<SelfCondition> found, const TailReport& report) {
  auto missing = missing_roots(report);
  std::erase_if(found, [](const SelfCondition& each) { return each.kind == "missing"; });
  if (missing) found.push_back(std::move(*missing));
  return monitor_sentence(found);
}

}  // namespace

std::shared_ptr<Snapshot> SnapshotMaker::make(const Sources& of) {
  auto snapshot = std::make_shared<Snapshot>();
  StepFeed::Taken steps = of.pipeline.engine().take_steps();
  snapshot->steps_json = std::move(steps.json);
  snapshot->steps = steps.steps;
  snapshot->steps_dropped = steps.dropped;
  const Engine& engine = of.pipeline.engine();
  const Ingest& ingest = of.pipeline.ingest();
  snapshot->taken = wall_clock();
  snapshot->ready = of.header.ready;
  snapshot->lag_seconds = of.report.lag_seconds;
  collect(of, *snapshot);
  snapshot->alerts_firing = engine.book().firing();
  if (!of.watch.as_before()) files_ = files_json(ingest, of.report);
  snapshot->status_json = status_json(of.header, engine, ingest, of.report, of.watch, files_);
  snapshot->runs_json = runs_json(engine, snapshot->taken, monitor(of.conditions, of.report));
  return snapshot;
}

void SnapshotMaker::collect(const Sources& of, Snapshot& snapshot) {
  const Engine& engine = of.pipeline.engine();
  collect_pipeline_metrics(engine, of.pipeline.ingest(), of.report, of.watch, budget_.left_out(),
                           snapshot.metrics);
  of.health.collect(of.store, snapshot.metrics);
  of.clock.collect(snapshot.metrics);
  if (has_changed()) {
    MetricFamilies families;
    engine.collect_metrics(cardinality_, families);
    budget_.apply({&families, &snapshot.metrics});
    job_metrics_ = std::make_shared<const MetricFamilies>(std::move(families));
  } else {
    budget_.apply(snapshot.metrics);
  }
  snapshot.job_metrics = job_metrics_;
}

}  // namespace trainwatch
