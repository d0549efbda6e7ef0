// SPDX-License-Identifier: Apache-2.0
// L9: logs whose records have no times, read in chunks, while they grow, and after a restart.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "support/ingest_run.h"

namespace trainwatch::untimed_log_test {

using std::chrono::hours;
using std::chrono::seconds;

constexpr Time kWritten{hours(490'000)};

std::string record(int iteration) {
  return " iteration " + std::to_string(iteration) +
         "/    1000 | consumed samples: 40 | elapsed time per iteration (ms): 4000.0 | "
         "learning rate: 1.0E-05 | global batch size: 4 | lm loss: 8.950000E+00 |\n";
}

std::string records(int from, int to) {
  std::string lines;
  for (int iteration = from; iteration <= to; iteration += 10) lines += record(iteration);
  return lines;
}

class UntimedLog : public testing::Test {
 protected:
  static TailLimits small_chunks() {
    TailLimits limits;
    limits.chunk_bytes = 1024;
    return limits;
  }
  void write(const std::string& path, const std::string& lines, Time time) {
    files_.append(path, lines);
    files_.touch(path, to_ns(time));
  }
  static Life run(const test::IngestRun& of) {
    EXPECT_FALSE(of.engine.ledger().runs().empty());
    return of.engine.ledger().life(of.engine.ledger().runs().begin()->first);
  }

  test::ModelFileSystem files_;
};

TEST_F(UntimedLog, L9AHistoryEndsWhenItsFileWasWritten) {
  files_.create("/r/slurm-1.out");
  write("/r/slurm-1.out", records(10, 1000), kWritten);
  test::IngestRun read(files_, {}, {}, {}, small_chunks());
  read.look();
  EXPECT_EQ(run(read).until, kWritten);
  EXPECT_EQ(run(read).began_at, kWritten - seconds(4000));
  EXPECT_EQ(run(read).attempts[0].last_step, 1000);
}

TEST_F(UntimedLog, L9WhatComesLiveHasTheTimeOfItsComing) {
  files_.create("/r/slurm-1.out");
  write("/r/slurm-1.out", records(10, 500), kWritten);
  test::IngestRun read(files_, {}, {}, {}, small_chunks());
  read.look();
  EXPECT_EQ(run(read).until, kWritten);
  write("/r/slurm-1.out", record(510), kWritten + seconds(43));
  read.look();
  EXPECT_EQ(run(read).until, kWritten + seconds(43));
}

TEST_F(UntimedLog, L9FilesOfTheSameMomentAreReadEachToItsEnd) {
  for (const std::string path : {"/r/a/slurm-1.out", "/r/b/slurm-2.out"}) {
    files_.create(path);
    write(path, records(10, 1000), kWritten);
  }
  test::IngestRun read(files_, {}, {}, {}, small_chunks());
  read.look();
  for (const auto& [job, run] : read.engine.ledger().runs()) {
    const Life life = read.engine.ledger().life(job);
    EXPECT_EQ(life.until, kWritten);
    EXPECT_EQ(life.began_at, kWritten - seconds(4000));
  }
  EXPECT_EQ(read.engine.ledger().runs().size(), 2U);
}

TEST_F(UntimedLog, L9ARestartAmidTheHistoryChangesNothing) {
  files_.create("/r/slurm-1.out");
  write("/r/slurm-1.out", records(10, 1000), kWritten);
  test::IngestRun killed(files_, {}, {}, {}, small_chunks());
  killed.tailer.scan(killed.ingest, killed.now);
  for (int chunk = 0; chunk < 5; ++chunk) EXPECT_TRUE(killed.tailer.read(killed.ingest));
  for (const auto& [job, run] : killed.engine.ledger().runs())
    EXPECT_TRUE(run.empty()) << "it is not known yet when they ended";
  test::IngestRun resumed(files_, killed.rows(), {}, {}, small_chunks());
  ASSERT_TRUE(resumed.loaded);
  resumed.look();
  EXPECT_EQ(run(resumed).until, kWritten);
  EXPECT_EQ(run(resumed).began_at, kWritten - seconds(4000));
}

}  // namespace trainwatch::untimed_log_test
