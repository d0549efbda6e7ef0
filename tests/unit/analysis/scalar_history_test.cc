// SPDX-License-Identifier: Apache-2.0
// What is kept of the scalars of a job: everything that a person looks for, in bounded room.
#include "pipeline/analysis/history/scalar_history.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "pipeline/analysis/history/history.h"
#include "pipeline/analysis/history/scalar_json.h"

namespace trainwatch::scalar_history_test {

using std::chrono::seconds;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Time at(std::int64_t second) {
  return Time{seconds(1'700'000'000 + second)};
}

class ScalarHistoryTest : public testing::Test {
 protected:
  Scalar scalar(const std::string& tag, std::int64_t step, double value,
                ScalarKind kind = ScalarKind::loss, std::int32_t rank = 0,
                const std::string& job = "job") {
    Scalar made;
    made.subject = interner_.subjects.intern({job, "", rank, ""}).value();
    made.tag = interner_.symbols.intern(tag);
    made.at = at(step);
    made.step = step;
    made.value = value;
    made.kind = kind;
    made.timed = true;
    return made;
  }
  const ScalarHistory& kept(std::size_t job = 0) const {
    return std::next(history_.jobs().begin(), static_cast<std::ptrdiff_t>(job))->second.scalars();
  }
  const std::vector<ScalarPoint>& points(std::size_t series = 0) const {
    return kept().series().at(series).curve.points();
  }
  std::string json(const ScalarChoice& choice = {}) const {
    return scalars_json("job", kept(), interner_, choice);
  }
  static History loaded(const Interner& interner, const StateRows& rows) {
    StoredRows stored;
    for (const auto& [key, value] : rows.changed()) {
      if (value) stored.emplace(key, *value);
    }
    History history(interner);
    EXPECT_TRUE(history.load(stored));
    return history;
  }

  Interner interner_;
  History history_{interner_};
};

std::size_t count_of(const std::vector<ScalarPoint>& points, double value) {
  return static_cast<std::size_t>(std::ranges::count(points, value, &ScalarPoint::value));
}

TEST_F(ScalarHistoryTest, EveryPointOfAShortJob) {
  for (int step = 0; step < 1000; ++step) history_.on(scalar("loss", step, 1000 - step));
  ASSERT_EQ(points().size(), 1000U);
  for (int step = 0; step < 1000; ++step) {
    EXPECT_EQ(points()[static_cast<std::size_t>(step)].step, step);
    EXPECT_EQ(points()[static_cast<std::size_t>(step)].value, 1000 - step);
  }
}

TEST_F(ScalarHistoryTest, ALongJobKeepsSpikesAndWhatIsNotANumber) {
  constexpr int kSteps = 100'000;
  for (int step = 0; step < kSteps; ++step) {
    const double usual = 2 + std::sin(step);
    const double value = step == 777      ? 1e6
                         : step == 5001   ? -3
                         : step == 20'002 ? kNan
                         : step == 50'003 ? kInfinity
                                          : usual;
    history_.on(scalar("loss", step, value));
    ASSERT_LE(points().size(), ScalarHistory::kMostPoints);
  }
  EXPECT_GT(points().size(), ScalarHistory::kMostPoints / 2);
  EXPECT_EQ(count_of(points(), 1e6), 1U);
  EXPECT_EQ(count_of(points(), -3), 1U);
  EXPECT_EQ(count_of(points(), kInfinity), 1U);
  const auto is_nan = [](const ScalarPoint& point) { return std::isnan(point.value); };
  EXPECT_EQ(std::ranges::count_if(points(), is_nan), 1);
  EXPECT_EQ(std::ranges::find_if(points(), is_nan)->step, 20'002);
  std::uint64_t covered = 0;
  for (const ScalarPoint& point : points()) covered += point.covers;
  EXPECT_EQ(covered, std::uint64_t{kSteps});
  EXPECT_TRUE(std::ranges::is_sorted(points(), {}, &ScalarPoint::step));
  // The newest one by one, the others evenly: no part of the job is without points.
  for (std::size_t i = 1; i <= 200; ++i)
    EXPECT_EQ(points()[points().size() - i].step, kSteps - static_cast<int>(i));
  for (std::size_t i = 1; i < points().size(); ++i)
    EXPECT_LT(points()[i].step - points()[i - 1].step, kSteps / 50);
}

TEST_F(ScalarHistoryTest, AResumeWithOverlappingStepsShowsBothAttempts) {
  for (int step = 0; step < 100; ++step) history_.on(scalar("loss", step, 5));
  for (int step = 60; step < 120; ++step) {
    Scalar again = scalar("loss", step, 4);
    again.at = at(1000 + step);
    history_.on(again);
  }
  ASSERT_EQ(points().size(), 160U);
  EXPECT_EQ(kept().series()[0].curve.restarts(), std::vector<std::size_t>{100});
  EXPECT_EQ(count_of(points(), 5), 100U);
  // Also where points have been put together.
  for (int step = 120; step < 9000; ++step) {
    Scalar more = scalar("loss", step, 4);
    more.at = at(1000 + step);
    history_.on(more);
  }
  EXPECT_LE(points().size(), ScalarHistory::kMostPoints);
  EXPECT_EQ(kept().series()[0].curve.restarts().size(), 1U);
}

TEST_F(ScalarHistoryTest, FilesThatAreReadInTurnsAreNoAttempts) {
  for (int step = 0; step < 50; ++step) {
    history_.on(scalar("loss", 50 + step, 1));
    history_.on(scalar("loss", step, 2));
  }
  EXPECT_TRUE(std::ranges::is_sorted(points(), {}, &ScalarPoint::step));
  EXPECT_TRUE(kept().series()[0].curve.restarts().empty());
}

TEST_F(ScalarHistoryTest, TheSameStepTwiceIsNoAttemptAndNoStepIsNone) {
  history_.on(scalar("loss", 5, 1));
  history_.on(scalar("loss", 5, 2));
  Scalar unnumbered = scalar("loss", 6, 3);
  unnumbered.step = kNoStep;
  history_.on(unnumbered);
  history_.on(scalar("loss", 7, 4));
  EXPECT_EQ(points().size(), 4U);
  EXPECT_TRUE(kept().series()[0].curve.restarts().empty());
}

TEST_F(ScalarHistoryTest, WhatSaysMostHasRoomAndTheRestIsCounted) {
  for (int step = 1; step <= 2; ++step) {
    for (int i = 0; i < 100; ++i)
      history_.on(scalar("tag" + std::to_string(i), step, i, ScalarKind::other));
  }
  EXPECT_EQ(kept().series().size(), ScalarHistory::kMostSeries);
  EXPECT_EQ(history_.scalars_dropped(), 100 - ScalarHistory::kMostSeries);
  history_.on(scalar("loss", 1, 2.5, ScalarKind::loss));
  history_.on(scalar("mfu", 1, 0.4, ScalarKind::mfu_ratio));
  EXPECT_EQ(kept().series().size(), ScalarHistory::kMostSeries);
  const auto has = [&](const char* tag) {
    return std::ranges::any_of(kept().series(), [&](const ScalarHistory::Series& series) {
      return interner_.text(series.tag) == tag;
    });
  };
  EXPECT_TRUE(has("loss"));
  EXPECT_TRUE(has("mfu"));
  EXPECT_TRUE(has("tag0"));
  EXPECT_FALSE(has("tag63")) << "the newest of those that say least makes room";
  for (int rank = 1; rank < 200; ++rank)
    history_.on(scalar("loss", 1, 2.5, ScalarKind::loss, rank));
  EXPECT_TRUE(has("loss"));
  EXPECT_EQ(kept().series().size(), ScalarHistory::kMostSeries);
}

TEST_F(ScalarHistoryTest, AllJobsTogetherAreBounded) {
  for (int job = 0; job < 40; ++job) {
    for (int tag = 0; tag < 64; ++tag) {
      for (int step = 0; step < 100; ++step) {
        history_.on(
            scalar(std::to_string(tag), step, step, ScalarKind::other, 0, std::to_string(job)));
      }
    }
  }
  std::size_t points = 0;
  for (const auto& [id, job] : history_.jobs()) {
    for (const auto& series : job.scalars().series()) points += series.curve.points().size();
  }
  EXPECT_LE(points, History::kMostScalarPoints);
  EXPECT_GT(points, History::kMostScalarPoints / 3);
}

TEST_F(ScalarHistoryTest, AScalarWithoutATimeOfItsOwnSaysNothingAboutTheJobsTime) {
  Scalar untimed = scalar("loss", 1, 2);
  untimed.timed = false;
  untimed.at = at(900'000'000);
  history_.on(untimed);
  EXPECT_EQ(history_.jobs().begin()->second.latest(), kNoTime);
  EXPECT_EQ(points().size(), 1U);
  history_.on(scalar("acc", 1, 2));
  EXPECT_EQ(kept().series().size(), 2U);
  EXPECT_EQ(history_.rows_dropped(), 0U);
}

TEST_F(ScalarHistoryTest, GoesOnAfterARestartFromRowsThatAreWrittenOnce) {
  StateRows stored;
  StateRows rows;
  const auto save = [&](History& history) {
    StateRows changed;
    history.save(changed, false);
    for (auto& [key, value] : changed.changed()) rows.changed()[key] = value;
    return changed.changed().size();
  };
  for (int step = 0; step < 5000; ++step) {
    history_.on(scalar("loss", step, step % 97 == 0 ? kNan : step));
    if (step % 3 == 0) history_.on(scalar("lr", step, 0.1, ScalarKind::learning_rate));
    if (step % 50 == 0) save(history_);
  }
  save(history_);
  EXPECT_LE(save(history_), 2U + 1U) << "nothing but totals, when nothing came";
  History again = loaded(interner_, rows);
  const auto both = [&] {
    return std::pair(scalars_json("job", again.jobs().begin()->second.scalars(), interner_, {}),
                     json());
  };
  EXPECT_EQ(both().first, both().second);
  for (int step = 5000; step < 9000; ++step) {
    history_.on(scalar("loss", step, step));
    again.on(scalar("loss", step, step));
  }
  EXPECT_EQ(both().first, both().second);
  save(again);
  const History third = loaded(interner_, rows);
  EXPECT_EQ(scalars_json("job", third.jobs().begin()->second.scalars(), interner_, {}), json());
}

TEST_F(ScalarHistoryTest, AForgottenSeriesLeavesNoRows) {
  for (int i = 0; i < 64; ++i)
    for (int step = 0; step < 200; ++step)
      history_.on(scalar("tag" + std::to_string(i), step, i, ScalarKind::other));
  StateRows rows;
  history_.save(rows, false);
  history_.on(scalar("loss", 1, 2.5, ScalarKind::loss));
  StateRows changed;
  history_.save(changed, false);
  for (auto& [key, value] : changed.changed()) rows.changed()[key] = value;
  const History again = loaded(interner_, rows);
  EXPECT_EQ(scalars_json("job", again.jobs().begin()->second.scalars(), interner_, {}), json());
}

TEST_F(ScalarHistoryTest, DamagedRowsAreRefused) {
  for (int step = 0; step < 100; ++step) history_.on(scalar("loss", step, step));
  StateRows rows;
  history_.save(rows, true);
  for (const auto& [key, value] : rows.changed()) {
    if (key.find("/scalars/") == std::string::npos) continue;
    StoredRows stored;
    for (const auto& [other, text] : rows.changed()) stored.emplace(other, *text);
    stored[key].pop_back();
    History history(interner_);
    EXPECT_FALSE(history.load(stored)) << key;
  }
}

TEST_F(ScalarHistoryTest, AsJson) {
  history_.on(scalar("acc", 1, 0.5, ScalarKind::other));
  history_.on(scalar("rate", 1, 9, ScalarKind::tokens_per_second));
  history_.on(scalar("loss", 1, 2.5, ScalarKind::loss, kNoRank));
  history_.on(scalar("loss", 2, kNan, ScalarKind::loss, kNoRank));
  Scalar later = scalar("loss", 1, -kInfinity, ScalarKind::loss, kNoRank);
  later.at = at(3);
  history_.on(later);
  const std::string head = R"({"job":"job","columns":["step","t_us","value"],"series":[)";
  const std::string loss =
      R"({"job":"job","rank":null,"tag":"loss","kind":"loss","unit":"","attempts":[2],"points":)"
      R"([[1,1700000001000000,2.5],[2,1700000002000000,"NaN"],[1,1700000003000000,"-Inf"]]})";
  const std::string rate =
      R"({"job":"job","rank":0,"tag":"rate","kind":"tokens_per_second",)"
      R"("unit":"tokens per second","attempts":[],"points":[[1,1700000001000000,9]]})";
  const std::string acc =
      R"({"job":"job","rank":0,"tag":"acc","kind":"other","unit":"","attempts":[],)"
      R"("points":[[1,1700000001000000,0.5]]})";
  EXPECT_EQ(json(), head + loss + "," + rate + "," + acc + "]}");
  EXPECT_EQ(json({.tags = {"acc", "none"}}), head + acc + "]}");
  EXPECT_EQ(json({.tags = {"none"}}), head + "]}");
  const std::string newest = json({.tags = {"loss"}, .last = 2});
  EXPECT_NE(newest.find(R"("attempts":[1],"points":[[2,)"), std::string::npos) << newest;
}

}  // namespace trainwatch::scalar_history_test
