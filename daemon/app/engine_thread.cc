// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/engine_thread.h"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <iterator>
#include <thread>
#include <utility>

#include "daemon/app/commit_pace.h"
#include "daemon/app/daemon_clock.h"
#include "daemon/app/engine_inbox.h"
#include "daemon/app/guarded_thread.h"
#include "daemon/app/second_thread.h"
#include "daemon/app/self_checks.h"
#include "daemon/app/show_pace.h"
#include "daemon/app/snapshot_maker.h"
#include "daemon/app/writer_thread.h"
#include "daemon/repeating_timer.h"

namespace trainwatch {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr auto kEvery = std::chrono::seconds(1);
constexpr int kNewWritersEvery = 10;  // seconds
// Service managers give up on who takes longer, and a compressed file may hold any amount.
constexpr auto kLongestToReady = std::chrono::seconds(20);
// Alerts that wait for a failing store. With more, reading stops: the files keep the rest.
constexpr std::size_t kMostWaiting = 10'000;

// After a burst of allocations of which most are freed: glibc would keep the holes.
void give_freed_memory_back() {
  malloc_trim(0);
}

}  // namespace

struct EngineThread::Impl {
  Impl(EngineThreadOptions options, std::unique_ptr<StateStore> state, Callbacks out)
      : round(options.forget_after / LastSeen::kPatience),
        header{std::move(options.version), wall_clock(), false, {}, {}, options.rejected_samples},
        writers(options.ingest.roots),
        dumps(options.dump_pipes.empty()
                  ? nullptr
                  : std::make_unique<DumpRequestThread>(std::move(options.dump_pipes))),
        store(std::move(state)),
        pipeline(std::move(options.rules), std::move(options.ingest), *store,
                 std::move(options.analyses),
                 [this](const auto& beside, const auto& here) { second.run_both(beside, here); }),
        callbacks(std::move(out)),
        snapshots(options.metrics),
        state_lost(std::move(options.state_lost)),
        timer(context),
        work(boost::asio::make_work_guard(context)) {}

  Status start() {
    if (Status started = pipeline.start(); !started.ok()) return started;
    checkpoint = pipeline.checkpoint();
    give_freed_memory_back();  // the rows that were loaded
    if (state_lost.empty() && !pipeline.upgraded()) state_lost = pipeline.dropped();
    report.read_until = SteadyClock::now();
    beat();
    commit();
    timer.start(kEvery, [this] { every_second(); });
    thread = std::thread([this] { run_guarded("engine", [this] { context.run(); }); });
    return success();
  }

  void beat() { heartbeat = SteadyClock::now().time_since_epoch().count(); }

  void take(FileId file, const AppendedBytes& appended) {
    pipeline.sink().data(file, appended);
    input_came(appended.bytes.size());
    commit_alerts();
    if (pace.bytes_are_due() && pace.may_commit(SteadyClock::now())) commit();
    if (pipeline.waiting().size() > kMostWaiting) {
      ++withheld;
    } else {
      inbox.chunks_done(1);
    }
  }

  void pass(const EngineInbox::Message& message) {
    message(pipeline.sink());
    input_came(0);
    commit_alerts();
  }

  void input_came(std::uint64_t bytes) {
    pace.read(bytes);
    show_pace.read(bytes);
  }

  void commit_alerts() {
    if (alerts_are_due()) commit();
  }

  bool alerts_are_due() const {
    return pipeline.has_settled() && pace.may_commit_alerts(SteadyClock::now(), !inbox.empty());
  }

  void commit() {
    const auto begun = SteadyClock::now();
    auto committed = pipeline.commit(clock.now());
    const auto now = SteadyClock::now();
    if (!committed.ok()) {
      pace.committed(begun, now);
      return commit_failed(now, committed.error().message);
    }
    if (health.degraded()) callbacks.store_recovered();
    health.succeeded(now - begun);
    provisional = 0;
    inbox.chunks_done(std::exchange(withheld, 0));
    if (!committed->empty()) callbacks.alerts(std::move(*committed), store->first_seq());
    store->tidy();
    pace.committed(begun, SteadyClock::now());
  }

  void commit_failed(SteadyClock::time_point now, const std::string& what) {
    if (health.failed(now, what)) callbacks.store_failed(what);
    if (store->broken()) callbacks.store_broken(what);
    if (!health.provisional_due(now) || provisional == pipeline.waiting().size()) return;
    callbacks.provisional(pipeline.provisional(provisional));
    provisional = pipeline.waiting().size();
  }

  void every_second() {
    beat();
    clock.compare(SteadyClock::now(), wall_clock());
    look_after_writers();
    forget_silent();
    // What has not been read yet cannot have failed to happen: not after this process was
    // suspended, nor while a file call hangs.
    pipeline.engine().tick(clock.at(report.read_until));
    pipeline.engine().flush();
    ask_for_dumps();
    show_pace.set_audience(audience);
    pace.second_passed();
    show_pace.second_passed();
    if (show_pace.came()) snapshots.changed();
    if (show_pace.news_is_due() || health.degraded()) look_after_self();
    pipeline.raise_self_alerts(clock.now(), conditions);
    const bool waits = alerts_are_due() || !pipeline.waiting().empty();
    if (pipeline.engine().second_passed()) snapshots.changed();
    const bool due = pace.second_is_due() || health.degraded();
    if (waits || (due && pace.may_commit(SteadyClock::now()))) commit();
    if (waits) snapshots.changed();
    if (waits || show_pace.is_due()) {
      show();
    } else if (!show_pace.somebody_looks()) {
      pipeline.engine().forget_steps();
    }
    // Of chunks that waited, and of commits.
    if (report.complete && inbox.empty() && pace.take_trim()) give_freed_memory_back();
  }

  void look_after_writers() {
    for (const RankProcess& gone : writers.take_gone()) pipeline.engine().writer_gone(gone);
    writers.ask(pipeline.engine().writers(), ++seconds % kNewWritersEvery == 0);
  }

  void ask_for_dumps() {
    if (dumps == nullptr) return;
    bool stalled = false;
    pipeline.engine().book().each_firing([&stalled](std::uint32_t, const Alert& alert) {
      stalled = stalled || alert.rule == "stall";
    });
    if (dump_policy.is_due(stalled, clock.now())) dumps->ask();
    if (const auto result = dumps->take_result()) callbacks.dumps_requested(*result);
  }

  void forget_silent() {
    if (report.read_until - round_began < round) return;
    round_began = report.read_until;
    if (!pipeline.next_round()) return;
    writers.forget();
    snapshots.changed();
    give_freed_memory_back();  // the state before
  }

  void look_after_self() {
    const Time awake = clock.awake();
    watch.look(awake, pipeline.ingest(), report, snapshots.has_changed());
    conditions = conditions_of(watch);
    const auto silence = awake - reported;
    std::ranges::move(self_checks({health, report, state_lost, silence}),
                      std::back_inserter(conditions));
    conditions.insert(conditions.end(), notifying.begin(), notifying.end());
  }

  // All that was there at the start has been read: what ended in it is over before anybody asks. A
  // job that was read before may go on: others may still write what they have of the same step.
  void caught_up() {
    if (!checkpoint.files.empty()) return commit_and_show();
    const Time now = clock.at(report.read_until);
    pipeline.engine().tick(now);  // the first one only sets the clock
    pipeline.engine().tick(now + Nanos{1});
    pipeline.engine().settle();
    pipeline.engine().flush();
    // Files below a missing path may still appear.
    if (report.missing_roots.empty()) end_orphans();
    commit_and_show();
  }

  void end_orphans() {
    if (const Status ended = pipeline.end_orphans(); !ended)
      callbacks.store_failed(ended.error().message);
  }

  // Nothing that is there is left for alerts to wait for.
  void commit_all() {
    pipeline.engine().settle();
    commit_and_show();
  }

  // With what is held back.
  void commit_and_show() {
    pipeline.engine().flush();
    commit();
    snapshots.changed();
    look_after_self();
    show();
  }

  void refresh() {
    show_pace.asked();
    if (show_pace.is_fresh(SteadyClock::now())) return;
    if (show_pace.came()) snapshots.changed();
    look_after_self();
    show();
  }

  void show() {
    show_pace.shown(SteadyClock::now());
    header.storing = health.failure();
    callbacks.snapshot(
        snapshots.make({pipeline, header, report, watch, health, *store, clock, conditions}));
  }

  const Nanos round;

  // Engine thread only, once it runs.
  SteadyClock::time_point round_began = SteadyClock::now();
  DaemonClock clock{SteadyClock::now(), wall_clock()};
  StatusHeader header;
  WriterThread writers;
  std::unique_ptr<DumpRequestThread> dumps;  // null: not configured
  DumpRequestPolicy dump_policy;
  int seconds = 0;  // since the start
  std::unique_ptr<StateStore> store;
  SecondThread second;
  DurablePipeline pipeline;
  TailCheckpoint checkpoint;
  TailReport report;
  Callbacks callbacks;
  CommitHealth health;
  SourceHealthTracker watch;
  SnapshotMaker snapshots;
  std::vector<SelfCondition> conditions;  // that hold now
  std::vector<SelfCondition> notifying;   // the net thread's
  std::string state_lost;                 // at the start; empty: no
  SteadyClock::time_point made = SteadyClock::now();
  Time reported = clock.awake();  // the last report of the reader
  bool caught_up_once = false;    // with what was there at the start
  CommitPace pace;
  ShowPace show_pace;
  std::ptrdiff_t withheld = 0;  // chunks taken while too many alerts wait
  std::size_t provisional = 0;  // how many of the waiting alerts were sent provisionally

  // Any thread.
  boost::asio::io_context context{1};
  std::atomic<SteadyClock::rep> heartbeat{0};
  std::atomic<bool> audience{false};

  RepeatingTimer timer;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work;
  EngineInbox inbox{context,
                    {[this](FileId file, const AppendedBytes& appended) { take(file, appended); },
                     [this](const EngineInbox::Message& message) { pass(message); }}};
  std::thread thread;
};

EngineThread::EngineThread(EngineThreadOptions options, std::unique_ptr<StateStore> store,
                           Callbacks callbacks)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(store), std::move(callbacks))) {}

EngineThread::~EngineThread() {
  stop();
}

void EngineThread::show_sandbox(std::string text) {
  impl_->header.sandbox = std::move(text);
}

Status EngineThread::start() {
  return impl_->start();
}

const TailCheckpoint& EngineThread::checkpoint() const {
  return impl_->checkpoint;
}

const std::string& EngineThread::dropped_state() const {
  return impl_->pipeline.dropped();
}

TailSink& EngineThread::inbox() {
  return impl_->inbox;
}

void EngineThread::pass_done(TailReport report) {
  boost::asio::post(impl_->context, [&impl = *impl_, report = std::move(report)]() mutable {
    if (report.same_files) report.files = std::move(impl.report.files);
    impl.report = std::move(report);
    impl.reported = impl.clock.awake();
    const bool caught_up = impl.report.complete && !std::exchange(impl.caught_up_once, true);
    const bool late = SteadyClock::now() - impl.made >= kLongestToReady;
    if (!caught_up && (!late || impl.header.ready)) return;
    impl.header.ready = true;
    caught_up ? impl.caught_up() : impl.commit_and_show();
  });
}

void EngineThread::reconfigure(std::vector<RuleConfig> rules) {
  boost::asio::post(impl_->context, [&impl = *impl_, rules = std::move(rules)]() mutable {
    impl.pipeline.reconfigure(std::move(rules));
    impl.commit_and_show();
  });
}

void EngineThread::fetch_alerts(std::uint64_t after, std::size_t limit,
                                std::function<void(Result<PublishedAlerts>)> done) {
  boost::asio::post(impl_->context, [&impl = *impl_, after, limit, done = std::move(done)] {
    done(impl.store->alerts_after(after, limit));
  });
}

void EngineThread::fetch_firing(std::size_t limit,
                                std::function<void(Result<PublishedAlerts>)> done) {
  boost::asio::post(impl_->context, [&impl = *impl_, limit, done = std::move(done)] {
    done(impl.store->firing(limit));
  });
}

void EngineThread::inspect(Inspection inspection) {
  boost::asio::post(impl_->context, [&impl = *impl_, inspection = std::move(inspection)] {
    const DurablePipeline& pipeline = impl.pipeline;
    inspection(pipeline.engine(), pipeline.ingest(), *impl.store);
  });
}

void EngineThread::refresh(std::function<void()> done) {
  boost::asio::post(impl_->context, [&impl = *impl_, done = std::move(done)] {
    impl.refresh();
    done();
  });
}

void EngineThread::set_audience(bool there) {
  impl_->audience = there;
}

void EngineThread::ask(Question question, std::function<void(HttpResponse)> done) {
  boost::asio::post(impl_->context,
                    [&impl = *impl_, question = std::move(question), done = std::move(done)] {
                      done(question(std::as_const(impl.pipeline).engine()));
                    });
}

void EngineThread::acknowledge(const std::string& name, std::uint64_t seq) {
  boost::asio::post(impl_->context, [&impl = *impl_, name, seq] {
    impl.pipeline.acknowledge(name, seq);
    impl.commit();
  });
}

void EngineThread::keep(KeptDelivery kept) {
  boost::asio::post(impl_->context, [&impl = *impl_, kept = std::move(kept)]() mutable {
    impl.pipeline.keep(std::move(kept.notes));
    if (kept.forget) {
      impl.pipeline.forget_subscriber(kept.name);
    } else if (!kept.name.empty()) {
      impl.pipeline.acknowledge(kept.name, kept.seq);
    }
    impl.commit();
    if (kept.stored) kept.stored();
  });
}

void EngineThread::notify_conditions(std::vector<SelfCondition> found) {
  boost::asio::post(impl_->context, [&impl = *impl_, found = std::move(found)]() mutable {
    impl.notifying = std::move(found);
  });
}

std::chrono::steady_clock::time_point EngineThread::last_heartbeat() const {
  return SteadyClock::time_point{SteadyClock::duration{impl_->heartbeat.load()}};
}

void EngineThread::conclude(bool job_over, std::function<void()> done) {
  boost::asio::post(impl_->context, [&impl = *impl_, job_over, done = std::move(done)] {
    impl.timer.stop();
    if (job_over) impl.pipeline.ingest().end_of_input();
    impl.commit_all();
    done();
  });
}

void EngineThread::close_inbox() {
  impl_->inbox.close();
}

void EngineThread::stop() {
  if (!impl_->thread.joinable()) return;
  close_inbox();
  boost::asio::post(impl_->context, [&impl = *impl_] {
    impl.timer.stop();
    impl.commit_all();
    impl.work.reset();
  });
  impl_->thread.join();
  impl_->store.reset();
}

}  // namespace trainwatch
