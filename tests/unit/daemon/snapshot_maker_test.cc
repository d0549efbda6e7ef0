// SPDX-License-Identifier: Apache-2.0
// A snapshot reuses what nothing has changed, and is the same as one that was made anew.
#include "daemon/app/snapshot_maker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/net/metrics_page.h"
#include "support/fed_file.h"
#include "support/memory_store.h"

namespace trainwatch::snapshot_maker_test {

using testing::HasSubstr;

std::string line(int second, double value) {
  return R"({"Type":"cpu","Name":"cpu0","Dimension":"CPUUtilization","Value":)" +
         std::to_string(value) + R"(,"NodeId":"n","Timestamp":)" +
         std::to_string(1'591'160'699 + second) + ".5}\n";
}

class SnapshotMakerTest : public testing::Test {
 protected:
  SnapshotMakerTest() {
    KnownFile file;
    file.file = FileId{7};
    file.path = "/w/system.json";
    file.source = "w";
    pipeline_.sink().opened(file, "lane", {});
  }

  // The engine thread's order: input, a look at the files, a snapshot.
  void read(const std::string& bytes) {
    file_.append(bytes);
    size_ += bytes.size();
    came_ = true;
  }
  std::shared_ptr<Snapshot> second(SnapshotMaker& maker) {
    report_.files = {{FileId{7}, LaneId{}, "/w/system.json", size_, size_, ""}};
    if (std::exchange(came_, false)) maker.changed();
    watch_.look(Time{}, pipeline_.ingest(), report_, maker.has_changed());
    return maker.make({pipeline_, header_, report_, watch_, health_, store_, clock_, {}});
  }
  static std::string page(const Snapshot& snapshot) {
    return render(MetricsFormat::prometheus_text, *snapshot.job_metrics);
  }

  MemoryStore store_{"epoch-1"};
  DurablePipeline pipeline_{{}, {}, store_};
  test::FedFile file_{pipeline_.sink(), FileId{7}};
  StatusHeader header_;
  TailReport report_;
  SourceHealthTracker watch_;
  CommitHealth health_;
  DaemonClock clock_{std::chrono::steady_clock::time_point{}, Time{}};
  std::uint64_t size_ = 0;
  bool came_ = true;
};

TEST_F(SnapshotMakerTest, MetricsOfJobsAreSharedUntilSomethingComes) {
  SnapshotMaker maker(MetricsConfig{});
  read(line(0, 25) + line(60, 25));  // the last one waits for others
  pipeline_.engine().flush();
  const auto first = second(maker);
  EXPECT_THAT(page(*first), HasSubstr("trainwatch_system_utilization_ratio"));
  EXPECT_THAT(page(*first), HasSubstr(" 0.25\n"));
  EXPECT_EQ(second(maker)->job_metrics, first->job_metrics);
  read(line(120, 50) + line(180, 50));
  pipeline_.engine().flush();
  const auto third = second(maker);
  EXPECT_THAT(page(*third), HasSubstr(" 0.5\n"));
  EXPECT_THAT(page(*first), HasSubstr(" 0.25\n")) << "who has it keeps it";
}

TEST_F(SnapshotMakerTest, AQuietSnapshotSaysWhatANewOneSays) {
  SnapshotMaker reusing(MetricsConfig{});
  read(line(0, 25) + line(1, 50));
  pipeline_.engine().flush();
  second(reusing);
  const auto quiet = second(reusing);
  SnapshotMaker fresh(MetricsConfig{});
  came_ = true;
  const auto anew = second(fresh);
  EXPECT_EQ(quiet->status_json, anew->status_json);
  EXPECT_THAT(quiet->status_json, HasSubstr("\"path\":\"/w/system.json\""));
  EXPECT_THAT(quiet->status_json, HasSubstr("\"files\":1,"));
  EXPECT_EQ(page(*quiet), page(*anew));
  EXPECT_EQ(render(MetricsFormat::prometheus_text, quiet->metrics),
            render(MetricsFormat::prometheus_text, anew->metrics));
}

}  // namespace trainwatch::snapshot_maker_test
