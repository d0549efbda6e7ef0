// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/otlp/otlp_writers.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/otlp/otlp_json.h"
#include "pipeline/decode/run_naming.h"

namespace trainwatch {
namespace {

struct SavedWriter {
  std::string run;
  std::string node;
  std::int32_t rank = kNoRank;
  OtlpWriter writer;

  void state(StateIo& io) {
    io(run);
    io(node);
    io(rank);
    io(writer);
  }
};

}  // namespace

OtlpResource read_otlp_resource(std::string_view attributes) {
  OtlpResource resource;
  each_attribute(attributes, [&resource](std::string_view key, std::string_view value) {
    if (key == "dl.rank" || key == "nv.dl.rank") {
      resource.rank = std::max(small_integer(value).value_or(kNoRank), kNoRank);
    } else if (key == "dl.world_size" || key == "nv.dl.world_size") {
      resource.world_size =
          static_cast<std::uint32_t>(std::max(small_integer(value).value_or(0), 0));
    } else if (key == "nemo.run.id" || (key == "slurm.job.id" && resource.run.empty())) {
      const std::string_view run = plain_token(value);
      if (names_a_run(run)) resource.run = run.substr(0, kLongestRun);
    } else if (key == "host.name") {
      resource.node = between_quotes(value).substr(0, SubjectTable::kLongestName);
    } else if (key == "process.pid") {
      resource.process = integer_or(value, -1);
    } else if (key == "nv.dl.role") {
      resource.helper = between_quotes(value) != "trainer";
    }
  });
  return resource;
}

void OtlpWriter::state(StateIo& io) {
  io(process);
  io(starting);
  io(restored_from);
  io(restored);
  io(sums);
  bool possible = is_possible(restored_from) && is_possible(restored);
  for (const OtlpSum& each : sums) {
    possible = possible && is_possible(each.start) && is_possible(each.at);
  }
  if (!possible) io.fail();
}

OtlpWriter* OtlpWriters::find(const OtlpResource& resource) {
  Key key{resource.run, resource.node, resource.rank};
  auto known = writers_.find(key);
  if (known == writers_.end()) {
    if (writers_.size() >= kMost) return nullptr;
    known = writers_.emplace(std::move(key), OtlpWriter{}).first;
  }
  if (!known->second.subject) known->second.subject = subject_of(known->first);
  return known->second.subject ? &known->second : nullptr;
}

std::optional<SubjectId> OtlpWriters::subject_of(const Key& key) const {
  const auto& [run, node, rank] = key;
  Subject about{context_.job_of(run), node, context_.rank != kNoRank ? context_.rank : rank, ""};
  context_.fill_in(about);
  return context_.interner.subjects.intern(about);
}

void OtlpWriters::state(StateIo& io) {
  std::vector<SavedWriter> saved;
  for (const auto& [key, writer] : writers_) {
    saved.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), writer});
  }
  io(saved);
  if (!io.is_loading()) return;
  writers_.clear();
  if (saved.size() > kMost) return io.fail();
  for (SavedWriter& each : saved) {
    each.writer.subject.reset();
    writers_.emplace(Key{std::move(each.run), std::move(each.node), each.rank}, each.writer);
  }
}

}  // namespace trainwatch
