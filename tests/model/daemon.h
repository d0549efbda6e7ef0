// SPDX-License-Identifier: Apache-2.0
// The daemon as the simulation drives it: the real tailer and pipeline, which may be killed at any
// moment and started again from what the store holds.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/broken_stores.h"
#include "model/tracing_sink.h"
#include "pipeline/state/durable_pipeline.h"
#include "pipeline/tail/tailer.h"
#include "support/model_file_system.h"

namespace trainwatch::test {

class SimDaemon {
 public:
  SimDaemon(ModelFileSystem& files, StoreAround& store, TailLimits limits,
            std::vector<RuleConfig> rules, bool trace)
      : files_(files), store_(store), limits_(limits), rules_(std::move(rules)), trace_(trace) {}

  bool up() const { return tailer_.has_value(); }

  // What is wrong; empty: nothing.
  std::string start() {
    pipeline_.emplace(rules_, IngestOptions{}, store_);
    if (const auto started = pipeline_->start(); !started) return started.error().message;
    if (trace_) tracing_.emplace(pipeline_->sink());
    if (!pipeline_->dropped().empty()) return pipeline_->dropped();
    tailer_.emplace(files_, roots(), limits_, pipeline_->checkpoint());
    return {};
  }
  void kill() {
    tailer_.reset();
    tracing_.reset();
    pipeline_.reset();
    store_.die();
  }

  void scan() { tailer_->scan(sink(), now_ += std::chrono::seconds(1)); }
  bool refresh() { return tailer_->refresh(); }
  bool read() { return tailer_->read(sink()); }
  void flush() { pipeline_->engine().flush(); }
  void reconfigure(std::vector<RuleConfig> rules) {
    rules_ = std::move(rules);
    pipeline_->reconfigure(rules_);
  }

  // The alerts that may be published; none when the store fails.
  Result<PublishedAlerts> commit(Time now) {
    auto published = pipeline_->commit(now);
    if (published) committed_ = pipeline_->checkpoint();
    return published;
  }

  // How far the content that stands at `path` now has been taken in for good.
  std::uint64_t committed_up_to(const std::string& path) const {
    const FileIdentity& present = files_.identity(path);
    const std::string& content = files_.content(path);
    std::uint64_t offset = 0;
    for (const FileCheckpoint& file : committed_.files) {
      const FileIdentity& identity = file.known.identity;
      const std::string_view tail = file.read.tail();
      const bool same = identity.inode == present.inode && identity.birth_ns == present.birth_ns &&
                        file.read.offset() <= content.size();
      if (same && content.compare(file.read.offset() - tail.size(), tail.size(), tail) == 0) {
        offset = std::max(offset, file.read.offset());
      }
    }
    return offset;
  }

  const Tailer& tailer() const { return *tailer_; }
  const Ingest& ingest() const { return pipeline_->ingest(); }
  const TailLimits& limits() const { return limits_; }

 private:
  // Each start writes the same tree in another way.
  std::vector<WatchRoot> roots() {
    switch (starts_++ % 3) {
      case 0:
        return {{"/r", "r"}};
      case 1:
        return {{"/r/logs", "logs"}, {"/r", "all"}};
      default:
        return {{"/r", "all"}, {"/r/system/incremental", "system"}};
    }
  }
  TailSink& sink() {
    if (tracing_) return *tracing_;
    return pipeline_->sink();
  }

  ModelFileSystem& files_;
  StoreAround& store_;
  TailLimits limits_;
  std::vector<RuleConfig> rules_;
  bool trace_;
  TailCheckpoint committed_;
  ScanTime now_{};
  unsigned starts_ = 0;
  // The tailer calls the pipeline, so it goes first.
  std::optional<DurablePipeline> pipeline_;
  std::optional<TracingSink> tracing_;
  std::optional<Tailer> tailer_;
};

}  // namespace trainwatch::test
