// The tailer and the ingest together on the files below /r, begun anew or gone on from saved rows.
#pragma once

#include <utility>

#include "pipeline/engine/ingest.h"
#include "pipeline/tail/tailer.h"
#include "support/engine_rows.h"
#include "support/model_file_system.h"

namespace trainwatch::test {

struct IngestRun {
  explicit IngestRun(ModelFileSystem& files, const StoredRows& rows = {},
                     AnalysisList analyses = {}, IngestOptions options = {}, TailLimits limits = {})
      : engine({}, std::move(analyses)),
        ingest(engine, std::move(options)),
        loaded(rows.empty() || (engine.load(rows) && ingest.load(rows))),
        tailer(files, {{"/r", "r"}}, limits, ingest.checkpoint()) {}

  void look(int times = 1) {
    for (int i = 0; i < times; ++i) {
      tailer.scan(ingest);
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

  Engine engine;
  Ingest ingest;
  bool loaded;
  Tailer tailer;
};

}  // namespace trainwatch::test
