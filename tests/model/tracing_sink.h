// SPDX-License-Identifier: Apache-2.0
// Prints the calls of the tailer, and passes them on.
#pragma once

#include <cstdio>
#include <string>

#include "pipeline/tail/tailer.h"

namespace trainwatch::test {

class TracingSink final : public TailSink {
 public:
  explicit TracingSink(TailSink& next) : next_(next) {}

  void opened(const KnownFile& known, const std::string& lane,
              const std::vector<FileId>& repeated) override {
    print(known.file, "opened " + known.path);
    next_.opened(known, lane, repeated);
  }
  void data(FileId file, const AppendedBytes& appended) override {
    print(file, std::to_string(appended.bytes.size()) + " bytes");
    next_.data(file, appended);
  }
  void renamed(const KnownFile& known) override {
    print(known.file, "renamed " + known.path);
    next_.renamed(known);
  }
  void cut_back(FileId file, std::uint64_t bytes) override {
    print(file, "cut back " + std::to_string(bytes));
    next_.cut_back(file, bytes);
  }
  void restarted(FileId file, std::uint64_t lost) override {
    print(file, "restarted " + std::to_string(lost));
    next_.restarted(file, lost);
  }
  void finished(FileId file) override {
    print(file, "finished");
    next_.finished(file);
  }
  void read_error(FileId file, const std::string& what) override {
    print(file, what);
    next_.read_error(file, what);
  }
  void forgotten(FileId file, bool retired) override {
    print(file, retired ? "forgotten, retired" : "forgotten");
    next_.forgotten(file, retired);
  }
  void lane_forgotten(LaneId lane) override {
    std::printf("    lane %u: forgotten\n", static_cast<unsigned>(lane));
    next_.lane_forgotten(lane);
  }
  void checkpoint_written(const CheckpointFile& file) override { next_.checkpoint_written(file); }

 private:
  static void print(FileId file, const std::string& what) {
    std::printf("    file %u: %s\n", static_cast<unsigned>(file), what.c_str());
  }

  TailSink& next_;
};

}  // namespace trainwatch::test
