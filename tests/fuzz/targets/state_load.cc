// SPDX-License-Identifier: Apache-2.0
// Stored state with any bytes changed, as if the checksums of its rows were right: loading it ends,
// and what is not accepted is dropped with a reason, after which everything works: reading,
// deciding, storing, loading again. What is accepted may mean nonsense: against that stand the
// checksums, see tests/unit/state/damaged_state_test.cc.
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/fuzz_target.h"
#include "pipeline/analysis/catalog.h"
#include "pipeline/engine/pipeline_report.h"
#include "pipeline/state/durable_pipeline.h"
#include "rules/catalog.h"
#include "support/fed_file.h"
#include "support/memory_store.h"
#include "unit/decode/samples.h"

namespace trainwatch::fuzz {
namespace {

std::vector<RuleConfig> all_rules() {
  std::vector<RuleConfig> rules;
  for (const RuleSpec* spec : rule_catalog()) rules.emplace_back(*spec);
  return rules;
}

// A job that is read from `first` on: the files so many of its bytes at a time.
void read_job(DurablePipeline& pipeline, std::size_t first) {
  std::uint32_t id = 1;
  for (const testing::SampleFile& sample : testing::sample_files()) {
    KnownFile file;
    file.file = FileId{id++};
    file.path = sample.path;
    file.source = "w";
    pipeline.sink().opened(file, sample.name, {});
    const std::size_t half = sample.content.size() / 2;
    const std::string_view content = sample.content;
    Fingerprint read;
    if (first != 0) read.extend(content.substr(0, half));
    test::FedFile(pipeline.sink(), file.file, read)
        .append(first == 0 ? content.substr(0, half) : content.substr(half));
  }
  pipeline.engine().tick(time_from_ns(1'795'236'016'000'000'000));
  pipeline.engine().flush();
}

std::vector<StateRow> sound_state() {
  MemoryStore store("epoch");
  DurablePipeline pipeline(all_rules(), {}, store, analysis_catalog());
  expect(pipeline.start().ok(), "an empty store is loaded");
  read_job(pipeline, 0);
  expect(pipeline.commit(Time{}).ok(), "state is stored");
  return *store.load();
}

// Four bytes of input each: which row, where, and what is put there.
void damage(std::vector<StateRow>& rows, std::string_view input) {
  const auto byte = [&input](std::size_t at) { return static_cast<unsigned char>(input[at]); };
  for (; input.size() >= 4; input.remove_prefix(4)) {
    std::string& value = rows[(byte(0) * 7U + byte(1)) % rows.size()].value;
    if (value.empty()) continue;
    const std::size_t at = (byte(1) * 256U + byte(2)) % value.size();
    switch (byte(0) % 4) {
      case 0:
        value.resize(at);
        break;
      case 1:
        value.insert(at, 1, input[3]);
        break;
      default:
        value[at] = static_cast<char>(value[at] ^ input[3]);
    }
  }
}

}  // namespace

void load_damaged_state(std::string_view input) {
  static const std::vector<StateRow> sound = sound_state();
  Commit stored;
  stored.changed = sound;
  damage(stored.changed, input);
  MemoryStore store("epoch");
  expect(store.commit(stored).ok(), "the store takes any row");
  {
    DurablePipeline pipeline(all_rules(), {}, store, analysis_catalog());
    expect(pipeline.start().ok(), "any state ends in a pipeline");
    if (input.empty()) expect(pipeline.dropped().empty(), "sound state is loaded");
    if (!input.empty() && pipeline.dropped().empty()) return;
    read_job(pipeline, 1);
    std::vector<MetricFamily> metrics;
    pipeline.engine().collect_metrics(Cardinality::full, metrics);
    expect(pipeline.commit(Time{}).ok(), "what follows is stored");
  }
  DurablePipeline pipeline(all_rules(), {}, store, analysis_catalog());
  expect(pipeline.start().ok() && pipeline.dropped().empty(), "what was stored is loaded");
}

}  // namespace trainwatch::fuzz
