// SPDX-License-Identifier: Apache-2.0
// Parameters of rules, one "rule.parameter=value" a line, as after --set: each is set or refused
// with a reason, and with whatever was set a job can be read.
#include <string>
#include <string_view>
#include <vector>

#include "daemon/config/config.h"
#include "fuzz/fuzz_target.h"
#include "pipeline/state/durable_pipeline.h"
#include "rules/catalog.h"
#include "support/fed_file.h"
#include "support/memory_store.h"
#include "unit/decode/samples.h"

namespace trainwatch::fuzz {

void set_rule_parameters(std::string_view input) {
  Config config{rule_catalog()};
  while (!input.empty()) {
    const std::string_view line = input.substr(0, input.find('\n'));
    input.remove_prefix(std::min(input.size(), line.size() + 1));
    ConfigFlags flags;
    flags.set.emplace_back(line);
    const Status set = apply_flags(flags, config);
    expect(set.ok() || !set.error().message.empty(), "a refusal has a reason");
  }
  MemoryStore store("epoch");
  DurablePipeline pipeline(config.enabled_rules(), {}, store);
  expect(pipeline.start().ok(), "an empty store is loaded");
  std::uint32_t id = 1;
  for (const testing::SampleFile& sample : testing::sample_files()) {
    KnownFile file;
    file.file = FileId{id++};
    file.path = sample.path;
    pipeline.sink().opened(file, sample.name, {});
    test::FedFile(pipeline.sink(), file.file).append(sample.content);
  }
  pipeline.engine().flush();
  expect(pipeline.commit(Time{}).ok(), "what follows is stored");
}

}  // namespace trainwatch::fuzz
