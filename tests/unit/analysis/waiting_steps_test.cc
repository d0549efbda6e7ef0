// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/core/waiting_steps.h"

#include <gtest/gtest.h>

#include <deque>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace trainwatch::waiting_steps_test {

std::string bytes_of(Step step) {
  StateIo io = StateIo::saving();
  io(step);
  return io.take();
}

// Each field has its default or another value, by chance.
class AnyStep {
 public:
  Step next() {
    Step step;
    step.start = Time{nanos(step.start.time_since_epoch())};
    for (Nanos* field : {&step.duration, &step.data_wait, &step.evaluation, &step.forward,
                         &step.backward, &step.optimizer}) {
      *field = nanos(*field);
    }
    step.begin = Time{nanos(step.begin.time_since_epoch())};
    step.number = integer(step.number);
    step.subject = static_cast<SubjectId>(random_());
    step.mode = static_cast<Mode>(random_() % static_cast<unsigned>(Mode::count_));
    step.origin = static_cast<Origin>(random_() % static_cast<unsigned>(Origin::count_));
    step.steps = static_cast<std::uint32_t>(integer(1));
    step.attempt = static_cast<std::uint32_t>(integer(1));
    step.opens_attempt = random_() % 2 == 0;
    step.restarts = random_() % 2 == 0;
    step.opens_epoch = random_() % 2 == 0;
    Pace& pace = step.pace;
    for (double* field : {&pace.usual, &pace.sigma, &pace.limit, &pace.longest, &pace.recent,
                          &pace.reference, &pace.rise}) {
      *field = static_cast<double>(integer(0)) / 7;
    }
    pace.changed_at = Time{nanos(pace.changed_at.time_since_epoch())};
    pace.changed_step = integer(pace.changed_step);
    pace.rise_step = integer(pace.rise_step);
    return step;
  }
  bool chance() { return below(2) == 0; }
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

 private:
  std::int64_t integer(std::int64_t usual) {
    return chance() ? usual : static_cast<std::int64_t>(random_() % 1'000'000);
  }
  Nanos nanos(Nanos usual) { return Nanos{integer(usual.count())}; }

  std::mt19937 random_{1};
};

TEST(WaitingSteps, AreAQueueOfWholeSteps) {
  AnyStep any;
  WaitingSteps queue;
  std::deque<Step> model;
  for (int i = 0; i < 20'000; ++i) {
    const std::size_t most = i < 10'000 ? 70 : 9;
    if (model.size() < most && any.chance()) {
      model.push_back(any.next());
      queue.push_back(model.back());
    } else if (!model.empty()) {
      model.pop_front();
      queue.pop_front();
    }
    ASSERT_EQ(queue.size(), model.size());
    if (model.empty()) continue;
    ASSERT_EQ(bytes_of(queue.front()), bytes_of(model.front()));
    ASSERT_EQ(queue.oldest_end(), model.front().end());
    ASSERT_EQ(queue.newest_end(), model.back().end());
  }
}

// What a store would hold after each save.
class Stored {
 public:
  void save(WaitingSteps& steps, bool all) {
    StateRows rows;
    rows.put("lane", [&](StateIo& io) { io(steps); });
    steps.save(rows, "step/", all);
    if (all) rows_.clear();
    written_ = rows.changed().size();
    for (auto& [key, value] : rows.changed()) {
      if (value) {
        rows_.insert_or_assign(key, *value);
      } else {
        rows_.erase(key);
      }
    }
  }
  std::optional<WaitingSteps> loaded(SavedIds* ids = nullptr) const {
    WaitingSteps steps;
    const SavedState saved{rows_, ids};
    if (!load_row(saved, "lane", [&](StateIo& io) { io(steps); })) return std::nullopt;
    const bool read = for_rows(saved, "step/", [&](std::string_view, std::string_view value) {
      StateIo io = saved.open(value);
      const WaitingSteps::Row row = WaitingSteps::load_row(io);
      return io.complete() && steps.add(row);
    });
    return read && steps.all_loaded() ? std::optional(std::move(steps)) : std::nullopt;
  }
  std::size_t written() const { return written_; }
  StoredRows& rows() { return rows_; }

 private:
  StoredRows rows_;
  std::size_t written_ = 0;  // rows, with the last save
};

std::vector<std::string> all_of(WaitingSteps steps) {
  std::vector<std::string> all;
  for (; !steps.empty(); steps.pop_front()) all.push_back(bytes_of(steps.front()));
  return all;
}

TEST(WaitingSteps, AreSavedAsTheyCome) {
  AnyStep any;
  WaitingSteps queue;
  Stored stored;
  for (int i = 0; i < 3'000; ++i) {
    if (queue.size() < 100 && any.below(3) != 0) {
      Step step = any.next();
      step.subject = SubjectId{7};
      queue.push_back(step);
    } else if (!queue.empty()) {
      queue.pop_front();
    }
    if (any.below(10) != 0) continue;
    stored.save(queue, any.below(5) == 0);
    std::optional<WaitingSteps> loaded = stored.loaded();
    ASSERT_TRUE(loaded.has_value());
    ASSERT_EQ(all_of(*loaded), all_of(queue));
    ASSERT_EQ(loaded->newest_end(), queue.newest_end());
    if (any.below(3) == 0) queue = std::move(*loaded);  // a restart
  }
  EXPECT_LE(stored.rows().size(), 1U + 100 / 16 + 2);
}

TEST(WaitingSteps, AFewNewOnesAreAFewRows) {
  WaitingSteps queue;
  Stored stored;
  for (int i = 0; i < 250; ++i) queue.push_back(Step{});
  stored.save(queue, false);
  EXPECT_EQ(stored.written(), 1U + 16);
  queue.push_back(Step{});
  queue.pop_front();
  stored.save(queue, false);
  EXPECT_EQ(stored.written(), 2U);
}

TEST(WaitingSteps, DamagedRowsAreNotLoaded) {
  WaitingSteps queue;
  Stored stored;
  for (int i = 0; i < 40; ++i) queue.push_back(Step{});
  stored.save(queue, false);
  ASSERT_TRUE(stored.loaded().has_value());
  Stored without = stored;
  without.rows().erase(without.rows().find("step/00000000000000000001"));
  EXPECT_FALSE(without.loaded().has_value());
  std::string& row = stored.rows().find("step/00000000000000000002")->second;
  for (std::size_t bit = 0; bit < 8 * row.size(); ++bit) {
    row[bit / 8] = static_cast<char>(row[bit / 8] ^ 1 << bit % 8);
    (void)stored.loaded();  // without reading beyond it
    row[bit / 8] = static_cast<char>(row[bit / 8] ^ 1 << bit % 8);
  }
  row.resize(row.size() - 8);
  EXPECT_FALSE(stored.loaded().has_value());
}

}  // namespace trainwatch::waiting_steps_test
