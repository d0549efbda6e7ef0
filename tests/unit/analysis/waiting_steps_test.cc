#include "pipeline/analysis/core/waiting_steps.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <string>

namespace trainwatch::waiting_steps_test {

std::string bytes_of(Step step) {
  StateIo io = StateIo::saving();
  io(step);
  return io.take();
}

std::string bytes_of(WaitingSteps& steps) {
  StateIo io = StateIo::saving();
  io(steps);
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
  bool chance() { return random_() % 2 == 0; }

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

TEST(WaitingSteps, StateIsThatOfAVectorAndSurvives) {
  AnyStep any;
  WaitingSteps queue;
  std::vector<Step> steps;
  for (int i = 0; i < 40; ++i) {
    steps.push_back(any.next());
    steps.back().subject = SubjectId::none;
    queue.push_back(steps.back());
  }
  StateIo expected = StateIo::saving();
  expected(steps);
  const std::string saved = bytes_of(queue);
  EXPECT_EQ(saved, expected.take());

  WaitingSteps restored;
  StateIo io = StateIo::loading(saved);
  io(restored);
  ASSERT_TRUE(io.complete());
  EXPECT_EQ(bytes_of(restored), saved);
  EXPECT_EQ(restored.oldest_end(), steps.front().end());
  EXPECT_EQ(restored.newest_end(), steps.back().end());
}

}  // namespace trainwatch::waiting_steps_test
