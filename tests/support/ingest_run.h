// SPDX-License-Identifier: Apache-2.0
// The tailer and the ingest together on the files below /r or the given roots, begun anew or gone
// on from saved rows.
#pragma once

#include <utility>

#include "pipeline/engine/ingest.h"
#include "pipeline/tail/tailer.h"
#include "support/engine_state.h"
#include "support/model_file_system.h"

namespace trainwatch::test {

struct IngestRun {
  explicit IngestRun(ModelFileSystem& files, const StoredRows& rows = {},
                     AnalysisList analyses = {}, IngestOptions options = {}, TailLimits limits = {})
      : roots(options.roots.empty() ? std::vector<WatchRoot>{{"/r", "r"}} : options.roots),
        engine({}, std::move(analyses)),
        ingest(engine, std::move(options)),
        loaded(rows.empty() || (engine.load(rows) && ingest.load(rows))),
        tailer(files, roots, limits, ingest.checkpoint()) {}

  void look(int times = 1) {
    for (int i = 0; i < times; ++i) {
      tailer.scan(ingest, now += std::chrono::seconds(1));
      while (tailer.read(ingest)) {
      }
    }
  }
  StoredRows rows() {
    StateRows changes;
    engine.save(changes, true);
    ingest.save(changes, true);
    StoredRows rows;
    store(changes, rows);
    return rows;
  }

  std::vector<WatchRoot> roots;
  Engine engine;
  Ingest ingest;
  bool loaded;
  Tailer tailer;
  ScanTime now{};
};

}  // namespace trainwatch::test
