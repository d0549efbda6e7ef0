// SPDX-License-Identifier: Apache-2.0
// Jobs whose files hold what real files hold: wrong time stamps, records written twice or out of
// order, steps done again after a restart. The alerts are those of the clean files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "support/line_job.h"
#include "support/source_path.h"
#include "support/watcher.h"

namespace trainwatch::time_trouble_test {

using namespace test;
using testing::IsEmpty;
using testing::Not;

using Rejects = decltype(Ingest::Source::rejects);

struct Outcome {
  std::map<std::string, AlertLine> alerts;
  Rejects rejects{};

  std::uint64_t rejected(RejectReason reason) const {
    return rejects[static_cast<std::size_t>(reason)];
  }
};

Outcome outcome_of(Watcher& watcher) {
  Outcome outcome{final_alerts(watcher.finish())};
  for (const auto& [name, source] : watcher.ingest().sources()) outcome.rejects = source.rejects;
  return outcome;
}

Outcome run(const LineJob& job, const TimestampFilterOptions& options = {}) {
  TempDirectory directory;
  job.write(directory);
  Watcher watcher(directory.path(), std::size_t{256} << 10U, options);
  return outcome_of(watcher);
}

void expect_same_alerts(const Outcome& outcome, const Outcome& clean) {
  EXPECT_EQ(outcome.alerts.size(), clean.alerts.size());
  for (const auto& [id, alert] : clean.alerts) {
    ASSERT_TRUE(outcome.alerts.contains(id)) << alert.json;
    EXPECT_EQ(outcome.alerts.at(id).json, alert.json);
  }
}

// The same record, with a value or a duration ten times as large.
std::string with_another_value(std::string line) {
  for (const std::string key : {"\"Value\":", "\"dur\":"}) {
    const std::size_t at = line.find(key);
    if (at == std::string::npos) continue;
    const std::size_t begin = line.find_first_not_of(' ', at + key.size());
    return line.insert(begin, "1");
  }
  return line;
}

// "recorded", or a scenario of the generator.
class TimeTrouble : public testing::TestWithParam<const char*> {
 protected:
  static LineJob make_job(const std::string& name) {
    if (name == "recorded") return LineJob(source_path("tests/data/recorded-job"));
    TempDirectory directory;
    const std::string command =
        "/usr/bin/python3 " + source_path("tests/support/sagemaker_job_gen.py") + " job" +
        std::string(" --seed 11 --gpus 2 --cpus 4 --seconds 900 --scenario ") + name + " --out " +
        directory.path() + " > /dev/null";
    EXPECT_EQ(std::system(command.c_str()), 0);
    return LineJob(directory.path());
  }

  void SetUp() override {
    clean_ = run(job_);
    ASSERT_THAT(clean_.alerts, Not(IsEmpty()));
    ASSERT_EQ(clean_.rejects, Rejects{});
  }

  LineJob job_ = make_job(GetParam());
  Outcome clean_;
  std::minstd_rand random_{20261121};
};

TEST_P(TimeTrouble, OnePoisonedRecordInAHundredChangesNoAlert) {
  constexpr std::int64_t kHour = 3600;
  std::uint64_t ahead = 0;
  std::uint64_t behind = 0;
  for (int round = 0; round < 3; ++round) {
    LineJob job = job_;
    ahead = behind = 0;
    job.change([&](const Lines& lines) {
      Lines poisoned;
      for (const std::string& line : lines) {
        poisoned.push_back(line);
        if (!has_time(line) || random_() % 100 != 0) continue;
        const std::int64_t far[] = {kHour,  24 * kHour,  1'000'000 * kHour,
                                    -kHour, -24 * kHour, -1'000'000 * kHour};
        const std::int64_t by = far[random_() % std::size(far)];
        poisoned.push_back(moved(line, by));
        ++(by > 0 ? ahead : behind);
      }
      return poisoned;
    });
    const Outcome outcome = run(job);
    expect_same_alerts(outcome, clean_);
    EXPECT_EQ(outcome.rejected(RejectReason::ts_future), ahead) << round;
    EXPECT_EQ(outcome.rejected(RejectReason::ts_past), behind) << round;
    EXPECT_GT(ahead, 5U);
    EXPECT_GT(behind, 5U);
  }
}

TEST_P(TimeTrouble, RecordsWrittenTwiceChangeNoAlert) {
  job_.change([&](const Lines& lines) {
    Lines repeated;
    for (const std::string& line : lines) {
      repeated.push_back(line);
      if (!has_time(line) || random_() % 20 != 0) continue;
      const std::size_t back = 1 + random_() % std::min<std::size_t>(repeated.size(), 10);
      for (std::size_t i = 0; i < back; ++i) {
        repeated.push_back(repeated[repeated.size() - back]);
      }
    }
    return repeated;
  });
  const Outcome outcome = run(job_);
  expect_same_alerts(outcome, clean_);
  EXPECT_GT(outcome.rejected(RejectReason::duplicate), 50U);
}

TEST_P(TimeTrouble, SystemMetricsOutOfOrderChangeNoAlert) {
  job_.change([&](const Lines& lines) {
    if (lines.front().find("\"Timestamp\"") == std::string::npos) return lines;
    std::uniform_real_distribution<double> delay(0, 4);
    std::multimap<double, std::string> by_arrival;
    for (const std::string& line : lines)
      by_arrival.emplace(seconds_of(line) + delay(random_), line);
    Lines shuffled;
    for (const auto& [arrival, line] : by_arrival) shuffled.push_back(line);
    return shuffled;
  });
  TimestampFilterOptions options;
  options.min_hold = std::chrono::seconds(5);
  const Outcome outcome = run(job_, options);
  expect_same_alerts(outcome, clean_);
  EXPECT_EQ(outcome.rejects, Rejects{});
}

TEST_P(TimeTrouble, AFileThatIsWrittenAgainIsReadOnce) {
  TempDirectory directory;
  Watcher watcher(directory.path());
  for (const auto& [name, lines] : job_.files()) {
    const std::string all = LineJob::text_of(lines);
    directory.append(name, all.substr(0, all.size() / 2));
    watcher.look();
    std::filesystem::resize_file(directory / name, 0);
    directory.append(name, all.substr(0, all.size() / 4));
    watcher.look();
    directory.append(name, all.substr(all.size() / 4));
    watcher.look();
  }
  const Outcome outcome = outcome_of(watcher);
  expect_same_alerts(outcome, clean_);
  EXPECT_GT(outcome.rejected(RejectReason::duplicate), 50U);
}

// Case 13: old records are edited, so that their file is read anew. Their times were read before,
// so all of them are duplicates: alerts keep their ids, and those of later records get no others.
TEST_P(TimeTrouble, AlertsKeepTheirIdsWhenOldRecordsAreEdited) {
  TempDirectory directory;
  Watcher watcher(directory.path());
  std::uint64_t edited = 0;
  for (const auto& [name, lines] : job_.files()) {
    const auto middle = lines.begin() + static_cast<std::ptrdiff_t>(lines.size() * 9 / 10);
    Lines old(lines.begin(), middle);
    directory.append(name, LineJob::text_of(old));
    watcher.look();
    // More than a minute before the end; a file has two minutes, or the edits are too short to
    // matter.
    for (std::size_t i = old.size() / 8; i < old.size() * 2 / 5; i += 20) {
      if (!has_time(old[i])) continue;
      old[i] = with_another_value(old[i]);
      ++edited;
    }
    std::filesystem::resize_file(directory / name, 0);
    directory.append(name, LineJob::text_of(old));
    watcher.look();
    directory.append(name, LineJob::text_of({middle, lines.end()}));
    watcher.look();
  }
  const Outcome outcome = outcome_of(watcher);
  expect_same_alerts(outcome, clean_);
  EXPECT_GT(edited, 20U);
  EXPECT_GT(outcome.rejected(RejectReason::duplicate), edited);
}

// A job that began again from a checkpoint does its last steps a second time, with later times.
TEST_P(TimeTrouble, StepsDoneAgainAfterARestartAreWork) {
  constexpr std::int64_t kLater = 7200;
  std::uint64_t steps = 0;
  const auto files = job_.files();
  for (const auto& [name, lines] : files) {
    const std::size_t stamp = name.rfind('/') + 1;
    if (name.find("timeline") == std::string::npos) continue;
    std::string again = name;
    const auto end_us = std::stoll(name.substr(stamp)) + kLater * 1'000'000;
    again.replace(stamp, name.find('_', stamp) - stamp, std::to_string(end_us));
    for (const std::string& line : lines) {
      job_.files()[again].push_back(has_time(line) ? moved(line, kLater) : line);
      steps += line.find("\"Step:ModeKeys") != std::string::npos && has_time(line) ? 1 : 0;
    }
  }
  const Outcome outcome = run(job_);
  EXPECT_EQ(outcome.rejects, Rejects{});
  for (const auto& [id, alert] : clean_.alerts) EXPECT_TRUE(outcome.alerts.contains(id)) << id;
  EXPECT_GT(steps, 100U);
}

INSTANTIATE_TEST_SUITE_P(Jobs, TimeTrouble,
                         testing::Values("recorded", "cpubottleneck", "gpufluct", "stepoutlier"),
                         [](const auto& job) { return std::string(job.param); });

}  // namespace trainwatch::time_trouble_test
