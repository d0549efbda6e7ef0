// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/closed_alerts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace trainwatch::closed_alerts_test {

Alert ended(const std::string& job, std::chrono::seconds at) {
  Alert alert;
  alert.id = job + std::to_string(at.count());
  alert.state = Alert::State::resolved;
  alert.subject.job = job;
  alert.ended_at = Time{at};
  return alert;
}

std::vector<std::string> ids(const ClosedAlerts& closed) {
  std::vector<std::string> found;
  closed.each([&found](const Alert& alert) { found.push_back(alert.id); });
  return found;
}

std::size_t count_of(const ClosedAlerts& closed, const std::string& job) {
  return static_cast<std::size_t>(
      std::ranges::count_if(ids(closed), [&](const auto& id) { return id.starts_with(job); }));
}

TEST(ClosedAlerts, KeepsThoseOfTheLastDayAndFewOthers) {
  ClosedAlerts closed;
  for (int hour = 0; hour < 24 * 30; ++hour) {
    closed.add(ended("job", std::chrono::hours(hour)));
    EXPECT_LE(ids(closed).size(), 25 + ClosedAlerts::kEvery);
  }
  const std::vector<std::string> kept = ids(closed);
  for (int hour = 24 * 29; hour < 24 * 30; ++hour) {
    EXPECT_TRUE(std::ranges::count(kept, ended("job", std::chrono::hours(hour)).id)) << hour;
  }
}

// An old job that is read again is no reason to forget its own alerts, nor those of others.
TEST(ClosedAlerts, EachJobHasItsOwnTime) {
  ClosedAlerts closed;
  const std::chrono::hours years(24 * 365 * 50);
  for (int i = 0; i < 200; ++i) {
    closed.add(ended("old", std::chrono::seconds(i)));
    closed.add(ended("new", years + std::chrono::seconds(i)));
  }
  EXPECT_EQ(count_of(closed, "old"), 200U);
  EXPECT_EQ(count_of(closed, "new"), 200U);
}

TEST(ClosedAlerts, WhatIsOldIsForgottenBetweenWhatIsKept) {
  ClosedAlerts closed;
  for (int i = 0; i < 31; ++i) {
    closed.add(ended("quiet", std::chrono::seconds(i)));
    closed.add(ended("busy", std::chrono::seconds(i)));
  }
  closed.add(ended("busy", std::chrono::hours(48)));
  EXPECT_EQ(count_of(closed, "busy"), 32U);
  closed.add(ended("other", std::chrono::seconds(0)));  // the 64th
  EXPECT_EQ(count_of(closed, "quiet"), 31U);
  EXPECT_EQ(count_of(closed, "busy"), 1U);
}

TEST(ClosedAlerts, AStormIsBoundedByNumber) {
  ClosedAlerts closed;
  for (int i = 0; i < 3000; ++i) closed.add(ended("job", std::chrono::seconds(i)));
  EXPECT_EQ(ids(closed).size(), ClosedAlerts::kMost);
  EXPECT_EQ(ids(closed).back(), "job2999");
}

TEST(ClosedAlerts, WhatIsSavedPieceByPieceIsWhatIsKept) {
  std::mt19937 random(5);
  ClosedAlerts closed;
  StoredRows stored;
  for (int hour = 0; hour < 2000; ++hour) {
    closed.add(ended(random() % 2 == 0 ? "a" : "b", std::chrono::hours(hour)));
    if (random() % 3 == 0) {
      const std::vector<std::string> known = ids(closed);
      closed.change(known[random() % known.size()], [&](Alert& alert) {
        alert.ranks = std::to_string(hour);
        return true;
      });
    }
    if (random() % 8 != 0) continue;
    StateRows rows;
    closed.save(rows, false);
    for (auto& [key, value] : rows.changed()) {
      if (value) {
        stored[key] = *value;
      } else {
        stored.erase(key);
      }
    }
    ClosedAlerts loaded;
    ASSERT_TRUE(loaded.load({stored, nullptr}));
    ASSERT_EQ(ids(loaded), ids(closed));
    std::vector<std::string> ranks;
    loaded.each([&](const Alert& alert) { ranks.push_back(alert.ranks); });
    closed.each(
        [&, at = ranks.begin()](const Alert& alert) mutable { ASSERT_EQ(alert.ranks, *at++); });
    if (random() % 4 == 0) closed = std::move(loaded);  // a restart
  }
}

}  // namespace trainwatch::closed_alerts_test
