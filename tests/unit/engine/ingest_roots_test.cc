// SPDX-License-Identifier: Apache-2.0
// A file is the same file whatever root it was found under, now and before a restart.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/ingest_run.h"

namespace trainwatch::ingest_roots_test {

std::string line(int second) {
  return R"({"Type":"cpu","Name":"cpu0","Dimension":"CPUUtilization","Value":50,)"
         R"("NodeId":"algo-1","Timestamp":)" +
         std::to_string(1795247800 + second) + "}\n";
}

IngestOptions watching(std::vector<WatchRoot> roots) {
  IngestOptions options;
  options.roots = std::move(roots);
  return options;
}

class IngestRoots : public testing::Test {
 protected:
  struct Counts {
    std::uint64_t bytes = 0, records = 0, begun = 0;
    bool operator==(const Counts&) const = default;
  };

  IngestRoots() {
    for (int i = 0; i < 3; ++i) {
      const std::string minute = std::to_string(1795247800 + 60 * i);
      fs_.create("/jobs/a/system/incremental/" + minute + ".algo-1.json", line(60 * i));
    }
    fs_.create("/jobs/a/log.jsonl", line(1) + line(2));
    fs_.create("/jobs/b/log.jsonl", line(3));
  }
  // Goes on from the last run, with other roots.
  Counts run(std::vector<WatchRoot> roots) {
    test::IngestRun run(fs_, rows_, {}, watching(std::move(roots)));
    EXPECT_TRUE(run.loaded);
    run.look(3);
    rows_ = run.rows();
    sources_ = run.ingest.sources();
    Counts all;
    for (const auto& [name, source] : sources_) {
      all.bytes += source.bytes;
      all.records += source.records;
      all.begun += source.generations;
    }
    return all;
  }
  void move_tree(const std::string& from, const std::string& to) {
    for (const std::string name : {"log.jsonl", "system/incremental/1795247800.algo-1.json",
                                   "system/incremental/1795247860.algo-1.json",
                                   "system/incremental/1795247920.algo-1.json"}) {
      fs_.rename(from + "/" + name, to + "/" + name);
    }
  }

  test::ModelFileSystem fs_;
  StoredRows rows_;
  std::map<std::string, Ingest::Source> sources_;
};

TEST_F(IngestRoots, AnotherNameIsNoOtherRoot) {
  const Counts first = run({{"/jobs/a", "a"}});
  EXPECT_EQ(first.records, 5U);
  EXPECT_EQ(run({{"/jobs/a", "renamed"}}), first);
  fs_.append("/jobs/a/log.jsonl", line(4));
  EXPECT_EQ(run({{"/jobs/a", "renamed"}}).records, 6U);
  EXPECT_EQ(sources_["renamed"].records, 1U);
}

TEST_F(IngestRoots, TheParentAndBack) {
  const Counts first = run({{"/jobs/a", "a"}});
  const Counts all = run({{"/jobs", "jobs"}});
  EXPECT_EQ(all.records, first.records + 1) << "only what lies in the other job is new";
  EXPECT_EQ(run({{"/jobs/a", "a"}}), all);
  EXPECT_EQ(run({{"/", "all"}}), all);
}

TEST_F(IngestRoots, OverlappingRootsReadEachFileOnceInWhateverOrder) {
  const std::vector<WatchRoot> roots = {
      {"/jobs", "jobs"}, {"/jobs/a/system", "system"}, {"/jobs/a", "a"}};
  const Counts first = run(roots);
  EXPECT_EQ(first.records, 6U);
  EXPECT_EQ(sources_["system"].records, 3U);
  EXPECT_EQ(sources_["a"].records, 2U);
  EXPECT_EQ(sources_["jobs"].records, 1U);
  EXPECT_EQ(run({roots[2], roots[1], roots[0]}), first);
  EXPECT_EQ(run({roots[0]}), first);
  EXPECT_EQ(run({roots[1], roots[2]}), first);
}

TEST_F(IngestRoots, ARootThatIsWatchedAgain) {
  const Counts first = run({{"/jobs/a", "a"}});
  run({{"/elsewhere", "e"}});
  fs_.append("/jobs/a/log.jsonl", line(4));
  EXPECT_EQ(run({{"/jobs/a", "a"}}).records, first.records + 1);
}

// Moved with its files, or mounted in another place of the name space.
TEST_F(IngestRoots, ATreeThatIsSomewhereElseNow) {
  const Counts first = run({{"/jobs/a", "a"}});
  move_tree("/jobs/a", "/archive/a");
  EXPECT_EQ(run({{"/archive/a", "a"}}), first);
  const std::string next = "/archive/a/system/incremental/1795247980.algo-1.json";
  fs_.create(next, line(180));
  fs_.append("/archive/a/log.jsonl", line(4));
  const Counts more = run({{"/archive/a", "a"}});
  EXPECT_EQ(more.records, first.records + 2);
  EXPECT_EQ(more.begun, first.begun + 1);
}

}  // namespace trainwatch::ingest_roots_test
