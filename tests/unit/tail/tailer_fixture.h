// SPDX-License-Identifier: Apache-2.0
// A tailer over a model file system, with a sink that records everything.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "pipeline/tail/tailer.h"
#include "tests/support/model_file_system.h"
#include "tests/support/recording_sink.h"

namespace trainwatch::test {

class TailerTest : public ::testing::Test {
 protected:
  using Calls = std::vector<std::string>;

  void start(TailLimits limits = {}, std::vector<WatchRoot> roots = {{"/r", "r"}}) {
    tailer.emplace(fs, std::move(roots), limits);
  }
  // One pass; returns what the sink heard.
  Calls pass() {
    if (!tailer) start();
    scan();
    return drain();
  }
  // A second after the last one.
  void scan(Nanos later = std::chrono::seconds(1)) { tailer->scan(sink, now += later); }
  Calls drain() {
    while (tailer->read(sink)) {
    }
    return sink.take_calls();
  }

  ModelFileSystem fs;
  RecordingSink sink;
  std::optional<Tailer> tailer;
  ScanTime now{};
};

}  // namespace trainwatch::test
