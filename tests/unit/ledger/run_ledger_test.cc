// SPDX-License-Identifier: Apache-2.0
#include "pipeline/ledger/run_ledger.h"

#include <cmath>

#include "unit/ledger/made_up_job.h"

namespace trainwatch::run_ledger_test {

using testing::Gt;
using testing::Lt;
using Iteration = MadeUpJob::Iteration;

constexpr RunLedger::Clock kReplay{kNoTime, 0, true};

std::string text_of(const PartSeconds& parts) {
  std::string text;
  for (std::size_t i = 0; i < kLifeParts; ++i) {
    const auto part = static_cast<LifePart>(i);
    if (parts[part] > 1e-6)
      text += std::string(to_string(part)) + " " + std::to_string(parts[part]) + "  ";
  }
  return text;
}

// Each part within `points` of the wall time, and the sum.
void expect_parts(const Life& life, const PartSeconds& truth, double points = 0.01) {
  EXPECT_NEAR(life.parts.total(), life.wall, 0.001 * life.wall);
  for (std::size_t i = 0; i < kLifeParts; ++i) {
    const auto part = static_cast<LifePart>(i);
    EXPECT_NEAR(life.parts[part], truth[part], points * life.wall)
        << to_string(part) << " of " << life.wall << "\nsaid:  " << text_of(life.parts)
        << "\ntruth: " << text_of(truth);
  }
}

void expect_account(MadeUpJob& job, double points = 0.01) {
  const Life life = job.replay().life(kReplay);
  expect_parts(life, job.truth(), points);
}

TEST(RunLedgerTest, TheLossOfAJobIsThatOfItsCriticalPathWhateverTheNumberOfRanks) {
  for (const std::uint32_t ranks : {1U, 2U, 4U, 16U, 64U}) {
    MadeUpJob job({.ranks = ranks});
    for (std::uint32_t k = 0; k < 300; ++k) {
      const bool waits = k % 3 == 0 && k > 5;
      job.iterate(waits ? Iteration{.part = LifePart::input_wait, .wait = {{k / 3 % ranks, 1.5}}}
                        : Iteration{});
    }
    SCOPED_TRACE(ranks);
    expect_account(job);
  }
}

TEST(RunLedgerTest, AWaitThatEndsBeforeTheLastRankArrivesHasCostNothing) {
  MadeUpJob job({});
  for (int k = 0; k < 300; ++k) {
    const bool waits = k % 4 == 0 && k > 5;
    job.iterate(
        waits ? Iteration{.part = LifePart::input_wait, .wait = {{0, 2.0}, {1, 1.0}, {2, 0.5}}}
              : Iteration{});
  }
  expect_account(job);
}

TEST(RunLedgerTest, NoiseIsTraining) {
  struct Case {
    std::uint32_t ranks;
    double noise;
  };
  for (const Case one : {Case{1, 0.05}, {8, 0.05}, {64, 0.05}, {256, 0.03}}) {
    MadeUpJob job({.ranks = one.ranks, .noise = one.noise, .seed = one.ranks});
    for (int k = 0; k < (one.ranks < 100 ? 300 : 100); ++k) job.iterate();
    SCOPED_TRACE(one.ranks);
    expect_account(job);
  }
}

TEST(RunLedgerTest, AHeavyTailIsTraining) {
  MadeUpJob job({});
  std::lognormal_distribution<double> length(0, 0.4);
  for (int k = 0; k < 800; ++k) job.iterate({.grow = length(job.random())});
  expect_account(job, 0.03);
}

TEST(RunLedgerTest, AStragglerFromTheStart) {
  struct Case {
    std::uint32_t ranks;
    double noise;
    std::vector<std::uint32_t> slow;
  };
  const std::vector<Case> cases = {{4, 0, {2}},
                                   {8, 0.03, {5}},
                                   {64, 0.03, {40}},
                                   {64, 0.03, {16, 17, 18, 19, 20, 21, 22, 23}},
                                   {64, 0, {3, 30, 50}}};
  for (const Case& one : cases) {
    MadeUpJob job({.ranks = one.ranks, .noise = one.noise, .seed = one.ranks});
    MadeUpJob::ByRank slow;
    for (const std::uint32_t rank : one.slow) slow[rank] = 0.15;
    for (int k = 0; k < 300; ++k) job.iterate({.part = LifePart::straggler, .slow = slow});
    SCOPED_TRACE(one.ranks);
    expect_account(job, 0.012);
  }
}

TEST(RunLedgerTest, SkewedClocksCostOnlyTheBeginAndTheEnd) {
  MadeUpJob job({.ranks = 8, .skew = 1.5});
  for (int k = 0; k < 400; ++k) {
    job.iterate(k >= 200 && k < 300 ? Iteration{.part = LifePart::input_wait, .wait = {{3, 0.8}}}
                                    : Iteration{});
  }
  expect_account(job, 0.015);
}

TEST(RunLedgerTest, KindsOfStepsThatAlternateFromTheStartAreNature) {
  const std::vector<std::function<bool(MadeUpJob&, int)>> kinds = {
      [](MadeUpJob&, int k) { return k % 10 == 9; },
      [](MadeUpJob& job, int) { return job.random()() % 2 == 0; },
      [](MadeUpJob& job, int) { return job.random()() % 100 < 15; }};
  for (const auto& is_long : kinds) {
    MadeUpJob job({});
    for (int k = 0; k < 600; ++k) job.iterate({.grow = is_long(job, k) ? 3.0 : 1.0});
    expect_account(job);
  }
  MadeUpJob job({});
  for (int k = 0; k < 600; ++k) {
    const bool late = k > 100 && k % 5 == 0;
    job.iterate(late ? Iteration{.part = LifePart::compute_growth, .grow = 3} : Iteration{});
  }
  expect_account(job);
}

TEST(RunLedgerTest, ForwardPassesThatWaitForOneAnotherAreFound) {
  MadeUpJob job({.ranks = 8, .sharded = true});
  for (std::uint32_t k = 0; k < 400; ++k) {
    const bool waits = k % 4 == 0 && k > 5;
    job.iterate(waits ? Iteration{.part = LifePart::input_wait, .wait = {{k / 4 % 8, 1.0}}}
                      : Iteration{});
  }
  expect_account(job);
}

TEST(RunLedgerTest, AnEvaluationOfOneRank) {
  MadeUpJob job({.ranks = 8});
  for (int k = 0; k < 400; ++k) {
    job.iterate(k % 100 == 99 ? Iteration{.part = LifePart::evaluation, .mark = {{0, 12.0}}}
                              : Iteration{});
  }
  expect_account(job);
}

TEST(RunLedgerTest, SlowerForGood) {
  MadeUpJob job({});
  for (int k = 0; k < 600; ++k) {
    job.iterate(k >= 300 ? Iteration{.part = LifePart::compute_growth, .grow = 1.4} : Iteration{});
  }
  expect_account(job);
}

// Batches double at step 300, and steps take `grow` times as long.
MadeUpJob job_of_two_stages(double grow, std::uint32_t log_every) {
  MadeUpJob job({.noise = 0.01});
  for (std::uint32_t k = 0; k < 600; ++k) {
    const bool large = k >= 300;
    job.iterate({.grow = large ? grow : 1});
    if (k % log_every == log_every - 1) job.log_size(large ? 128 : 64);
  }
  return job;
}

TEST(RunLedgerTest, LargerBatchesAreNoLoss) {
  for (const double grow : {0.7, 1.3, 2.0, 2.4}) {
    for (const std::uint32_t log_every : {1U, 10U}) {
      SCOPED_TRACE(testing::Message() << grow << "x, logged every " << log_every << " steps");
      MadeUpJob job = job_of_two_stages(grow, log_every);
      expect_account(job, log_every == 1 ? 0.01 : 0.02);
    }
  }
}

TEST(RunLedgerTest, WhatIsSlowerAfterALargerBatchIsALoss) {
  MadeUpJob job = job_of_two_stages(2, 1);
  for (int k = 0; k < 200; ++k) job.iterate({.part = LifePart::compute_growth, .grow = 3});
  const Life life = job.replay().life(kReplay);
  EXPECT_NEAR(life.parts[LifePart::compute_growth], 200 * 0.4, 4) << text_of(life.parts);
  EXPECT_NEAR(life.seconds_per_step, 0.8, 0.02);
}

TEST(RunLedgerTest, OneOddBatchIsNoStage) {
  MadeUpJob job({.noise = 0.01});
  for (int k = 0; k < 600; ++k) {
    job.iterate();
    job.log_size(k % 50 == 49 ? 16 : 64);
  }
  expect_account(job);
}

TEST(RunLedgerTest, WhatWasBookedAtABadPaceStays) {
  MadeUpJob job({.ranks = 2});
  for (int k = 0; k < 100; ++k) job.iterate({.grow = 1.5});
  for (int k = 0; k < 300; ++k) job.iterate();
  for (int k = 0; k < 100; ++k) job.iterate({.part = LifePart::compute_growth, .grow = 1.5});
  expect_account(job);
}

TEST(RunLedgerTest, EightOfManyRanksLoseElsewhere) {
  MadeUpJob job({.ranks = 8, .world = 1024});
  for (int k = 0; k < 400; ++k) {
    job.iterate(k % 4 == 0 && k > 30 ? Iteration{.part = LifePart::elsewhere, .elsewhere = 0.6}
                                     : Iteration{});
  }
  expect_account(job);
}

MadeUpJob waiting_by_turns(std::uint32_t ranks, double noise) {
  MadeUpJob job({.ranks = ranks, .noise = noise});
  for (std::uint32_t k = 0; k < 500; ++k) {
    const bool waits = k % 5 == 0 && k > 5;
    job.iterate(waits ? Iteration{.part = LifePart::input_wait, .wait = {{k / 5 % ranks, 1.0}}}
                      : Iteration{});
  }
  return job;
}

TEST(RunLedgerTest, TheOrderInWhichRanksComeDoesNotMatter) {
  MadeUpJob job = waiting_by_turns(8, 0.02);
  const Life plain = job.replay().life(kReplay);
  expect_parts(plain, job.truth());
  constexpr double kDelays[] = {0, 100, 3, 0, 60, 7, 0, 20};
  const auto late = job.replay(job.in_order([&](std::uint32_t rank) { return kDelays[rank]; }));
  EXPECT_EQ(late.life(kReplay).parts.seconds, plain.parts.seconds);
  const auto by_rank = job.replay(job.in_order([](std::uint32_t rank) { return rank * 1e6; }));
  EXPECT_EQ(by_rank.life(kReplay).parts.seconds, plain.parts.seconds);
}

// Plays the job with a clock that ticks each second and ranks that are delayed. Calls `at_tick`
// after each tick.
template <class AtTick>
Life live(const MadeUpJob& job, const std::vector<double>& delays, AtTick&& at_tick) {
  const auto delay = [&](std::uint32_t rank) { return delays[rank]; };
  RunLedger ledger;
  RunLedger::Clock clock{Time{from_seconds(job.began())}, 0, false};
  for (const MadeUpJob::Event& event : job.in_order(delay)) {
    while (clock.now < event.at + from_seconds(delay(event.rank))) {
      clock.now += std::chrono::seconds(1);
      ++clock.second;
      ledger.advance(clock, nullptr);
      at_tick(std::as_const(ledger), clock);
    }
    MadeUpJob::feed(ledger, event, clock);
  }
  job.close(ledger);
  ledger.advance(kReplay, nullptr);
  return ledger.life(kReplay);
}

TEST(RunLedgerTest, LiveIsReplayAndWhatIsBookedOnlyGrows) {
  MadeUpJob job = waiting_by_turns(8, 0.02);
  job.iterate({.part = LifePart::stalled, .slow = {{5, 200.0}}});
  for (int k = 0; k < 100; ++k) job.iterate();
  const Life replay = job.replay().life(kReplay);
  PartSeconds before;
  bool stalled = false;
  const auto at_tick = [&](const RunLedger& ledger, const RunLedger::Clock& clock) {
    for (std::size_t i = 0; i < kLifeParts; ++i)
      ASSERT_GE(ledger.booked().seconds[i], before.seconds[i]);
    before = ledger.booked();
    if (ledger.empty()) return;
    const Life life = ledger.life(clock);
    ASSERT_NEAR(life.parts.total(), life.wall, 1e-6 * life.wall);
    ASSERT_LE(life.until, clock.now);
    stalled = stalled || life.state == LifeState::stalled;
  };
  const Life life = live(job, {0, 0, 30, 0, 2, 0, 5, 0}, at_tick);
  EXPECT_TRUE(stalled);
  EXPECT_EQ(life.parts.seconds, replay.parts.seconds);
  expect_parts(replay, job.truth());
}

RunLedger resumed(RunLedger& saved, std::uint32_t ranks) {
  RunLedger loaded;
  const auto copy = [](auto&& save, auto&& load) {
    StateIo out = StateIo::saving();
    save(out);
    const std::string bytes = out.take();
    StateIo in = StateIo::loading(bytes);
    load(in);
    EXPECT_TRUE(in.complete());
  };
  copy([&](StateIo& io) { io(saved); }, [&](StateIo& io) { io(loaded); });
  for (std::uint32_t r = 0; r < ranks; ++r) {
    const SubjectId rank = MadeUpJob::subject(r);
    if (!saved.knows(rank)) continue;
    copy([&](StateIo& io) { saved.rank_state(io, rank); },
         [&](StateIo& io) { loaded.rank_state(io, rank); });
  }
  loaded.loaded();
  return loaded;
}

void expect_same_when_killed_and_resumed(const MadeUpJob& job) {
  const Life straight = job.replay().life(kReplay);
  const std::vector<MadeUpJob::Event> events = job.in_order();
  RunLedger ledger;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (i % 97 == 0) ledger = resumed(ledger, 8);
    MadeUpJob::feed(ledger, events[i], {});
  }
  job.close(ledger);
  ledger.advance(kReplay, nullptr);
  EXPECT_EQ(ledger.life(kReplay).parts.seconds, straight.parts.seconds);
}

TEST(RunLedgerTest, KilledAndResumedIsTheSameAccount) {
  expect_same_when_killed_and_resumed(waiting_by_turns(8, 0.02));
  expect_same_when_killed_and_resumed(job_of_two_stages(2.4, 1));
}

TEST(RunLedgerTest, AHangGrowsWithTheClockAndStaysInTheAccount) {
  MadeUpJob job({.ranks = 8});
  for (int k = 0; k < 200; ++k) job.iterate();
  RunLedger ledger;
  RunLedger::Clock clock{Time{from_seconds(job.now() + 600)}, 600, false};
  for (const MadeUpJob::Event& event : job.in_order()) MadeUpJob::feed(ledger, event, clock);
  const Life life = ledger.life(clock);
  EXPECT_EQ(life.state, LifeState::stalled);
  EXPECT_EQ(life.steps_per_second, 0);
  EXPECT_NEAR(life.parts[LifePart::stalled], 600 - 0.4, 1);
  EXPECT_NEAR(life.rank_seconds, 8 * life.wall, 1);

  job.iterate({.part = LifePart::stalled, .slow = {{5, 700.0}}});
  for (int k = 0; k < 50; ++k) job.iterate();
  expect_account(job);
}

TEST(RunLedgerTest, WhatASecondAttemptDoesAgainIsRedone) {
  MadeUpJob job({});
  for (int k = 0; k < 300; ++k) job.iterate();
  MadeUpJob again({.began = job.now() + 100, .startup = 30, .first_step = 250});
  for (int k = 0; k < 200; ++k)
    again.iterate({.part = k < 50 ? LifePart::redone : LifePart::training});
  PartSeconds truth = job.truth();
  truth.add(again.truth(), 1);
  truth[LifePart::down] = 100;
  for (const bool by_rank : {false, true}) {
    std::vector<MadeUpJob::Event> events = job.events();
    events.insert(events.end(), again.events().begin(), again.events().end());
    std::ranges::stable_sort(events, {}, &MadeUpJob::Event::at);
    if (by_rank) std::ranges::stable_sort(events, {}, &MadeUpJob::Event::rank);
    const Life life = again.replay(events).life(kReplay);
    expect_parts(life, truth);
    EXPECT_EQ(life.steps, 450U);
    EXPECT_EQ(life.redone_steps, 50U);
    ASSERT_EQ(life.attempts.size(), 2U);
    EXPECT_EQ(life.attempts[0].last_step, 299);
    EXPECT_EQ(life.attempts[1].first_step, 250);
    EXPECT_EQ(life.attempts[1].last_step, 449);
  }
}

TEST(RunLedgerTest, ARankThatFallsSilentDoesNotHoldUpTheOthers) {
  MadeUpJob job({});
  for (int k = 0; k < 4000; ++k) job.iterate();
  RunLedger ledger;
  RunLedger::Clock clock{Time{from_seconds(job.began())}, 0, false};
  for (const MadeUpJob::Event& event : job.in_order()) {
    const double at = to_seconds(event.at) - job.began();
    for (; clock.now < event.at; clock.now += std::chrono::seconds(1)) ++clock.second;
    if (event.rank == 3 && at > 100 && at < 1200) continue;
    MadeUpJob::feed(ledger, event, clock);
    ASSERT_LT(ledger.attempts().back().held(), 1700U);
  }
  job.close(ledger);
  ledger.advance(kReplay, nullptr);
  expect_parts(ledger.life(kReplay), job.truth());
}

RunNote evidence(double at, EndClass what, EndWeight weight, std::int32_t rank = kNoRank) {
  RunNote note;
  note.at = Time{from_seconds(at)};
  note.kind = RunNote::Kind::end_evidence;
  note.end = EndEvidence{what, weight, rank};
  return note;
}

TEST(RunLedgerTest, AnExceptionThatWasCaughtIsNoEnd) {
  MadeUpJob job({.ranks = 1});
  for (int k = 0; k < 200; ++k) job.iterate();
  RunLedger ledger;
  RunLedger::Clock clock{Time{from_seconds(job.began())}, 0, false};
  std::size_t fed = 0;
  const std::vector<MadeUpJob::Event> events = job.in_order();
  for (; fed < 400; ++fed) MadeUpJob::feed(ledger, events[fed], clock);
  clock.now = events[fed].at;
  ledger.on({}, evidence(to_seconds(clock.now), EndClass::exception, EndWeight::exception), clock);
  for (int second = 0; second < 30; ++second) {
    clock.now += std::chrono::seconds(1);
    ++clock.second;
    ledger.advance(clock, nullptr);
  }
  EXPECT_EQ(ledger.life(clock).state, LifeState::failed);
  for (; fed < events.size(); ++fed) MadeUpJob::feed(ledger, events[fed], clock);
  clock.now = Time{from_seconds(job.now())};
  const Life life = ledger.life(clock);
  EXPECT_EQ(life.state, LifeState::running);
  EXPECT_EQ(life.attempts.size(), 1U);
  EXPECT_EQ(life.steps, 200U);
  EXPECT_EQ(life.redone_steps, 0U);
  EXPECT_NEAR(life.parts.total(), life.wall, 1e-3);
}

TEST(RunLedgerTest, ACrashBeforeTheFirstStepIsAllStartup) {
  MadeUpJob job({.ranks = 2});
  RunLedger ledger;
  for (const MadeUpJob::Event& event : job.in_order()) MadeUpJob::feed(ledger, event, {});
  ledger.on({}, evidence(job.began() + 40, EndClass::exception, EndWeight::exception, 1), kReplay);
  ledger.advance(kReplay, nullptr);
  const Life life = ledger.life(kReplay);
  EXPECT_EQ(life.state, LifeState::failed);
  EXPECT_EQ(life.end->how.rank, 1);
  EXPECT_EQ(life.steps, 0U);
  EXPECT_NEAR(life.wall, 40, 1e-6);
  EXPECT_NEAR(life.parts[LifePart::startup], 40, 1e-6);
}

// As a Trainer's log, which has neither steps nor times; its last line says how long it took.
TEST(RunLedgerTest, ALogWithoutStepsTookAsLongAsItSays) {
  RunLedger ledger;
  RunNote done{.at = Time{from_seconds(1.8e9)}, .kind = RunNote::Kind::completed};
  done.seconds = 3 * 24 * 3600;
  ledger.on({}, done, kReplay);
  for (const bool booked : {false, true}) {
    if (booked) ledger.advance(kReplay, nullptr);
    const Life life = ledger.life(kReplay);
    EXPECT_EQ(life.state, LifeState::finished);
    EXPECT_NEAR(life.wall, done.seconds, 1e-6);
    EXPECT_NEAR(life.parts[LifePart::training], done.seconds, 1e-6) << text_of(life.parts);
  }
}

TEST(RunLedgerTest, RanksThatDoNotMarchInStepHaveTheMeanOfTheirAccounts) {
  RunLedger ledger;
  std::vector<MadeUpJob::Event> events;
  PartSeconds truth;
  for (std::uint32_t r = 0; r < 2; ++r) {
    MadeUpJob job({.ranks = 1, .base = r == 0 ? 0.4 : 0.5, .began = 1.8e9, .startup = 10});
    while (job.now() < 1.8e9 + 400) {
      const double wait = r == 1 && job.now() > 1.8e9 + 200 ? 0.6 : 0.0;
      job.iterate(
          {.part = wait > 0 ? LifePart::input_wait : LifePart::training, .wait = {{0, wait}}});
    }
    truth.add(job.truth(), 0.5);
    for (MadeUpJob::Event event : job.events()) {
      event.rank = r;
      const SubjectId subject = MadeUpJob::subject(r);
      std::visit([subject](auto& input) { input.subject = subject; }, event.input);
      if (auto* note = std::get_if<RunNote>(&event.input)) note->world_size = 2;
      events.push_back(event);
    }
  }
  std::ranges::stable_sort(events, {}, &MadeUpJob::Event::at);
  for (const MadeUpJob::Event& event : events) MadeUpJob::feed(ledger, event, {});
  for (std::uint32_t r = 0; r < 2; ++r)
    ledger.closed({MadeUpJob::subject(r), static_cast<std::int32_t>(r)});
  ledger.advance(kReplay, nullptr);
  const Life life = ledger.life(kReplay);
  EXPECT_NEAR(life.parts.total(), life.wall, 0.001 * life.wall);
  EXPECT_NEAR(life.parts[LifePart::input_wait], truth[LifePart::input_wait], 0.02 * life.wall)
      << text_of(life.parts);
}

// Megatron with TFLOP/s: longer sequences at the same throughput are no loss.
TEST(RunLedgerTest, LongerSequencesAtTheSameThroughputAreNoLoss) {
  for (const bool fair : {true, false}) {
    RunLedger ledger;
    const SubjectId rank = MadeUpJob::subject(0);
    double now = 1.8e9 + 10;
    RunNote note;
    note.kind = RunNote::Kind::launched;
    note.at = Time{from_seconds(1.8e9)};
    note.world_size = 8;
    ledger.on({}, note, {});
    for (int k = 1; k <= 100; ++k) {
      const double longer = k < 50 ? 1 : 1.6;
      Step step;
      step.duration = from_seconds(0.5 * longer);
      step.steps = 5;
      now += 2.5 * longer;
      step.start = step.begin = Time{from_seconds(now)} - step.duration;
      step.number = 5 * k;
      step.subject = rank;
      step.origin = Origin::log;
      ledger.work(rank, step.number, fair ? 100 : 100 / longer);
      ledger.on({rank, -1}, step, {});
      ledger.advance({}, nullptr);
    }
    note.kind = RunNote::Kind::completed;
    note.at = Time{from_seconds(now)};
    ledger.on({}, note, {});
    ledger.advance(kReplay, nullptr);
    const Life life = ledger.life(kReplay);
    EXPECT_EQ(life.state, LifeState::finished);
    EXPECT_EQ(life.steps, 500U);
    const double lost = fair ? 0 : 51 * 5 * 0.3;
    EXPECT_NEAR(life.parts[LifePart::unattributed], lost, 0.02 * life.wall) << text_of(life.parts);
  }
}

// A step of a log that was written at `at`, in seconds.
Step record(std::int64_t number, double at, double seconds) {
  Step step;
  step.start = Time{from_seconds(at - seconds)};
  step.begin = step.start;
  step.duration = from_seconds(seconds);
  step.number = number;
  step.subject = MadeUpJob::subject(0);
  step.origin = Origin::log;
  return step;
}

TEST(RunLedgerTest, ARankThatIsAloneWaitsForNobody) {
  MadeUpJob job({.ranks = 1});
  for (int k = 0; k < 300; ++k) job.iterate();
  for (int k = 0; k < 300; ++k) job.iterate({.part = LifePart::compute_growth, .grow = 1.5});
  const Life life = job.replay().life(kReplay);
  EXPECT_EQ(life.parts[LifePart::communication], 0) << text_of(life.parts);
  EXPECT_NEAR(life.parts[LifePart::compute_growth], 300 * 0.2, 1) << text_of(life.parts);
}

TEST(RunLedgerTest, AnEvaluationAfterTheLastStepIsNoStall) {
  MadeUpJob job({.ranks = 1});
  for (int k = 0; k < 100; ++k) job.iterate();
  Span evaluation;
  evaluation.kind = SpanKind::evaluation;
  evaluation.start = Time{from_seconds(job.now() + 0.1)};
  evaluation.duration = std::chrono::seconds(300);
  evaluation.subject = MadeUpJob::subject(0);
  job.events().push_back({evaluation.end(), 0, evaluation});
  const Life life = job.replay().life(kReplay);
  EXPECT_NEAR(life.parts[LifePart::evaluation], 300, 1) << text_of(life.parts);
  EXPECT_EQ(life.parts[LifePart::stalled], 0);
}

// The log shows each evaluation without its duration. Regular evaluations from the start must not
// count as training.
TEST(RunLedgerTest, ALoggedEvaluationTookWhatItsRecordTookLonger) {
  const RunLedger::Writer writer{MadeUpJob::subject(0), 0};
  RunLedger ledger;
  double now = 1.8e9;
  for (int k = 1; k <= 100; ++k) {
    const bool evaluates = k % 10 == 0;
    if (evaluates) {
      RunNote note;
      note.kind = RunNote::Kind::evaluation;
      note.at = Time{from_seconds(now + 8)};
      note.subject = writer.rank;
      ledger.on(writer, note, {});
    }
    const double seconds = evaluates ? 10 : 2;
    now += seconds;
    ledger.on(writer, record(k, now, seconds), {});
    ledger.advance({}, nullptr);
  }
  const Life open = ledger.life({Time{from_seconds(now)}, 1, false});
  EXPECT_NEAR(open.parts[LifePart::evaluation], 10 * 8, 1) << "before the last one is booked";
  ledger.advance(kReplay, nullptr);
  const Life life = ledger.life(kReplay);
  EXPECT_NEAR(life.parts[LifePart::evaluation], 10 * 8, 1) << text_of(life.parts);
  EXPECT_NEAR(life.parts[LifePart::training], 100 * 2, 3) << text_of(life.parts);
}

constexpr double kOldDay = 1.6e9;

TEST(RunLedgerTest, ALogOfAnotherDayIsOverUnlessItGrows) {
  const RunLedger::Writer writer{MadeUpJob::subject(0), 0};
  const Time written{from_seconds(1.8e9)};
  RunLedger ledger;
  RunLedger::Clock clock{written, 7, false};
  for (int k = 0; k < 100; ++k) {
    ledger.on(writer, record(k + 1, kOldDay + 2 * k, 2), clock);
    ledger.advance(clock, nullptr);
    if (k % 40 == 39) ledger.read(written, clock);  // one file is read in several pieces
  }
  ledger.read(written, clock);
  Life life = ledger.life(clock);
  EXPECT_EQ(life.state, LifeState::gone);
  EXPECT_EQ(life.since, Time(from_seconds(kOldDay + 198)));
  EXPECT_EQ(life.until, life.since);
  EXPECT_FALSE(life.grew);
  EXPECT_EQ(resumed(ledger, 1).life(clock).state, LifeState::gone);

  clock.now += std::chrono::seconds(2);
  ++clock.second;
  ledger.on(writer, record(101, kOldDay + 200, 2), clock);
  ledger.read(clock.now, clock);
  ledger.advance(clock, nullptr);
  life = ledger.life(clock);
  EXPECT_EQ(life.state, LifeState::running) << "somebody plays it";
  EXPECT_TRUE(life.grew);
  EXPECT_EQ(life.attempts.size(), 1U);
  EXPECT_EQ(resumed(ledger, 1).life(clock).state, LifeState::running);
}

TEST(RunLedgerTest, ALogOfTodayGoesOn) {
  const RunLedger::Writer writer{MadeUpJob::subject(0), 0};
  RunLedger ledger;
  const RunLedger::Clock clock{Time{from_seconds(1.8e9 + 201)}, 7, false};
  for (int k = 0; k < 100; ++k) ledger.on(writer, record(k + 1, 1.8e9 + 2 * k, 2), clock);
  ledger.read(Time{from_seconds(1.8e9 + 198)}, clock);
  ledger.advance(clock, nullptr);
  EXPECT_EQ(ledger.life(clock).state, LifeState::running);
}

TEST(RunLedgerTest, AnAttemptBeginsWithItsFirstRecordWhateverItsLauncherSays) {
  const RunLedger::Writer writer{MadeUpJob::subject(0), 0};
  RunLedger ledger;
  const auto write = [&](std::int64_t number, double at, bool restarts) {
    Step step = record(number, kOldDay + at, 2);
    step.restarts = restarts;
    ledger.on(writer, step, {});
    ledger.advance({}, nullptr);
  };
  for (int k = 1; k <= 300; ++k) write(k, 2 * k, false);
  ledger.on(writer, evidence(kOldDay + 600, EndClass::cuda_out_of_memory, EndWeight::cause), {});
  RunNote launched;
  launched.kind = RunNote::Kind::launched;
  launched.at = Time{from_seconds(kOldDay + 5200)};
  ledger.on({}, launched, {});
  for (int k = 1; k <= 400; ++k) write(200 + k, 4200 + 2 * k, k == 1);
  ledger.advance(kReplay, nullptr);
  const Life life = ledger.life(kReplay);
  ASSERT_EQ(life.attempts.size(), 2U);
  EXPECT_EQ(life.redone_steps, 100U);
  EXPECT_NEAR(life.parts[LifePart::redone], 200, 4);
  EXPECT_NEAR(life.parts[LifePart::down], 3600, 4);
}

}  // namespace trainwatch::run_ledger_test
