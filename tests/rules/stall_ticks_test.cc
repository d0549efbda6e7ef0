// SPDX-License-Identifier: Apache-2.0
// A rule that gets a tick only when it wants one says the same as one that gets a tick each second.
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

#include "rules/catalog.h"
#include "support/book_output.h"
#include "trainwatch/event.h"

namespace trainwatch {
namespace {

using std::chrono::seconds;

constexpr Time kOrigin{std::chrono::hours(490'000)};

struct Writes final : CheckpointActivity {
  std::vector<Time> times;
  Time latest(SubjectId, Time from, Time to) const override {
    Time found = kNoTime;
    for (const Time time : times) {
      if (time > from && time <= to) found = std::max(found, time);
    }
    return found;
  }
};

class Watched {
 public:
  Watched(const RuleConfig& config, const Interner& interner, SubjectId rank, const Writes& writes)
      : rule_(config.spec->make(config.params, {interner, rank, nullptr, &writes})),
        out(config, interner, *rule_) {}

  void on_step(const Step& step) { came().on_step(step, out); }
  void on_span(const Span& span) { came().on_span(span, out); }
  void on_note(const SourceNote& note) { came().on_note(note, out); }
  void on_checkpoint() { came(); }
  void tick(Time now, bool always) {
    if (!always && now < next_) return;
    ++ticks;
    next_ = rule_->on_tick({now}, out).next;
  }

 private:
  Rule& came() {
    next_ = {};
    return *rule_;
  }

  std::unique_ptr<Rule> rule_;
  Time next_{};

 public:
  test::BookOutput out;
  int ticks = 0;
};

class Seconds {
 public:
  explicit Seconds(unsigned seed) : random_(seed) {}
  // Returns how many of them had a stall.
  std::size_t compare();

 private:
  bool chance(double share) { return std::bernoulli_distribution(share)(random_); }
  int upto(int most) { return std::uniform_int_distribution(0, most)(random_); }
  Step step(Time end) {
    Step step;
    step.subject = rank_;
    step.duration = seconds(1);
    step.start = step.begin = end - seconds(1);
    step.number = number_++;
    step.mode = Mode::train;
    step.origin = Origin::timeline;
    step.opens_attempt = number_ == 1 || chance(0.01);
    if (number_ > 3) step.pace.usual = step.pace.longest = 1;
    return step;
  }

  std::mt19937 random_;
  Interner interner_;
  SubjectId rank_ = interner_.subjects.intern({"", "vm", kNoRank, "", 100}).value();
  std::int64_t number_ = 0;
};

std::size_t Seconds::compare() {
  const RuleConfig config(*find_rule("stall"));
  Writes writes;
  Watched each(config, interner_, rank_, writes);
  Watched wanted(config, interner_, rank_, writes);
  const auto both = [&](const auto& call) {
    call(each);
    call(wanted);
  };
  Nanos late = chance(0.3) ? std::chrono::hours(24) : Nanos{};  // files of the day before
  double share = 1;                                             // of the seconds that have a step
  std::size_t stalls = 0;
  for (int second = 0; second < 3000; ++second) {
    const Time now = kOrigin + seconds(second);
    if (chance(0.01)) share = chance(0.3) ? 0 : 1;
    if (chance(0.003)) late = {};
    if (chance(share)) both([&, made = step(now - late)](Watched& it) { it.on_step(made); });
    if (chance(0.01)) {
      writes.times.push_back(now + seconds(upto(2)));
      both([](Watched& it) { it.on_checkpoint(); });
    }
    if (chance(0.005)) {
      Span span;
      span.subject = rank_;
      span.start = now - late;
      span.duration = seconds(upto(100));
      both([&](Watched& it) { it.on_span(span); });
    }
    if (chance(0.003)) {
      const auto kind =
          chance(0.5) ? SourceNote::Kind::timeline_closed : SourceNote::Kind::timeline_goes_on;
      both([&](Watched& it) { it.on_note({now, {}, kind, rank_}); });
    }
    if (chance(0.0003)) interner_.subjects.intern({"", "vm", kNoRank, "", 200 + second});
    each.tick(now, true);
    wanted.tick(now, false);
    stalls += each.out.open();
    EXPECT_EQ(each.out.open(), wanted.out.open()) << second;
    EXPECT_EQ(each.out.verdicts(), wanted.out.verdicts()) << second;
    EXPECT_EQ(each.out.firings(""), wanted.out.firings("")) << second;
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_LT(wanted.ticks, each.ticks);
  return stalls;
}

TEST(StallTicks, AreNeededOnlyWhenTheyAreWanted) {
  std::size_t stalls = 0;
  for (unsigned seed = 0; seed < 100 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    stalls += Seconds(seed).compare();
  }
  EXPECT_GT(stalls, 10'000U);
}

}  // namespace
}  // namespace trainwatch
