// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/root_jobs.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace trainwatch::root_jobs_test {

using Jobs = std::vector<std::string>;

// What has a dot in its name is a file.
Jobs jobs_of_roots(std::vector<WatchRoot> roots) {
  name_jobs(roots, [](const std::string& path) { return path.find('.') != std::string::npos; });
  Jobs jobs;
  for (const WatchRoot& root : roots) jobs.push_back(root.job);
  return jobs;
}

Jobs jobs_of(const std::vector<std::string>& paths) {
  std::vector<WatchRoot> roots;
  for (const std::string& path : paths) roots.push_back({path, path});
  return jobs_of_roots(std::move(roots));
}

TEST(RootJobs, OneRootHasTheNamesThatItsFilesSay) {
  EXPECT_EQ(jobs_of({"/jobs/a"}), Jobs{""});
  EXPECT_EQ(jobs_of({"/jobs/a/train.log"}), Jobs{""});
  EXPECT_EQ(jobs_of({"/"}), Jobs{""});
}

TEST(RootJobs, SeveralAreNamedAfterTheirFolders) {
  EXPECT_EQ(jobs_of({"/jobs/bert", "/jobs/gpt"}), (Jobs{"bert", "gpt"}));
  EXPECT_EQ(jobs_of({"/jobs/bert/train.log", "/data/gpt"}), (Jobs{"bert", "gpt"}));
  EXPECT_EQ(jobs_of({"/jobs/9001", "/jobs/9002"}), (Jobs{"9001", "9002"}));
  EXPECT_EQ(jobs_of({"/", "/jobs"}), (Jobs{"", "jobs"})) << "one lies in the other";
}

TEST(RootJobs, EqualNamesBecomeLongerUntilTheyDiffer) {
  EXPECT_EQ(jobs_of({"/a/run", "/b/run", "/c/gpt"}), (Jobs{"a/run", "b/run", "gpt"}));
  EXPECT_EQ(jobs_of({"/a/x/run", "/b/x/run"}), (Jobs{"a/x/run", "b/x/run"}));
  EXPECT_EQ(jobs_of({"/run", "/b/run"}), (Jobs{"run", "b/run"}));
}

TEST(RootJobs, NoNameIsThatOfAFolderInAnotherJob) {
  EXPECT_EQ(jobs_of({"/p/a/b", "/q/b", "/r/a"}), (Jobs{"p/a/b", "q/b", "a"}));
  EXPECT_EQ(jobs_of_roots({{"/p/a", "", "b"}, {"/q/b", ""}, {"/r/c", ""}}),
            (Jobs{"b", "q/b", "c"}));
}

TEST(RootJobs, FoldersOfOneJobAreOneJob) {
  EXPECT_EQ(jobs_of({"/jobs/a/logs", "/jobs/a/tensorboard", "/jobs/a"}), (Jobs{"", "", ""}));
  EXPECT_EQ(jobs_of({"/a/framework", "/a/system", "/a/rank0/x.log"}), (Jobs{"", "", ""}));
  EXPECT_EQ(jobs_of({"/a/logs", "/a/wandb", "/b/logs"}), (Jobs{"a", "a", "b"}));
  EXPECT_EQ(jobs_of({"/logs", "/traces"}), (Jobs{"logs", "traces"}));
}

TEST(RootJobs, ARootInAnotherOneHasTheJobThatItsFilesWouldHaveWithoutIt) {
  EXPECT_EQ(jobs_of({"/a/system", "/a", "/a"}), (Jobs{"", "", ""}));
  EXPECT_EQ(jobs_of({"/a", "/a/run-2"}), (Jobs{"", "run-2"}));
  EXPECT_EQ(jobs_of({"/b", "/a/run-2", "/a", "/a/run-2/x/y"}),
            (Jobs{"b", "a/run-2", "a", "a/run-2/x/y"}));
  EXPECT_EQ(jobs_of_roots({{"/a", "", "bert"}, {"/a/slurm-1.out", ""}}), (Jobs{"bert", "bert"}));
}

TEST(RootJobs, AJobThatIsGivenStays) {
  EXPECT_EQ(jobs_of_roots({{"/a", "", "bert"}, {"/b", ""}}), (Jobs{"bert", ""}));
  EXPECT_EQ(jobs_of_roots({{"/a", "", "x"}, {"/b", "", "x"}, {"/c", ""}, {"/d", ""}}),
            (Jobs{"x", "x", "c", "d"}));
}

}  // namespace trainwatch::root_jobs_test
