#include "daemon/app/engine_thread.h"

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <semaphore>
#include <thread>
#include <utility>

namespace trainwatch {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr int kChunksInFlight = 16;
constexpr auto kSnapshotEvery = std::chrono::seconds(1);

Time wall_clock() {
  return std::chrono::time_point_cast<Nanos>(std::chrono::system_clock::now());
}

}  // namespace

struct EngineThread::Parts {
  // Turns the tailer's calls into messages.
  class Inbox final : public TailSink {
   public:
    explicit Inbox(Parts& parts) : parts_(parts) {}

    void opened(FileId file, LaneId lane, const WatchRoot& root, const std::string& path) override {
      post([=](Ingest& ingest) { ingest.opened(file, lane, root, path); });
    }
    void data(FileId file, std::string_view bytes) override {
      while (!parts_.slots.try_acquire_for(std::chrono::milliseconds(100))) {
        if (parts_.closed) return;
      }
      auto copy = std::make_unique<std::string>(bytes);
      boost::asio::post(parts_.context, [&parts = parts_, file, copy = std::move(copy)] {
        parts.ingest.data(file, *copy);
        parts.slots.release();
        parts.publish();
      });
    }
    void renamed(FileId file, const std::string& path) override {
      post([=](Ingest& ingest) { ingest.renamed(file, path); });
    }
    void cut_back(FileId file, std::uint64_t bytes) override {
      post([=](Ingest& ingest) { ingest.cut_back(file, bytes); });
    }
    void restarted(FileId file, std::uint64_t lost) override {
      post([=](Ingest& ingest) { ingest.restarted(file, lost); });
    }
    void finished(FileId file) override {
      post([=](Ingest& ingest) { ingest.finished(file); });
    }
    void read_error(FileId file, const std::string& what) override {
      post([=](Ingest& ingest) { ingest.read_error(file, what); });
    }

   private:
    template <class Message>
    void post(Message message) {
      boost::asio::post(parts_.context, [&parts = parts_, message] {
        message(parts.ingest);
        parts.publish();
      });
    }
    Parts& parts_;
  };

  Parts(EngineThreadOptions options, std::unique_ptr<StateStore> state, Outlets out)
      : header{std::move(options.version), wall_clock(), false},
        engine(std::move(options.rules)),
        ingest(engine, std::move(options.ingest)),
        store(std::move(state)),
        outlets(std::move(out)),
        timer(context),
        work(boost::asio::make_work_guard(context)) {
    beat();
    every_second();
    thread = std::thread([this] { context.run(); });
  }

  void beat() { heartbeat = SteadyClock::now().time_since_epoch().count(); }

  void publish() {
    Commit commit;
    commit.now = wall_clock();
    commit.alerts = engine.take_told();
    commit.acknowledged = acknowledged;
    if (commit.alerts.empty() && commit.acknowledged.empty()) return;
    auto committed = store->commit(commit);
    if (committed.ok()) {
      acknowledged.clear();
      outlets.alerts(std::move(*committed), store->first_seq());
    } else {
      outlets.store_failed(committed.error().message);
    }
  }

  void every_second() {
    timer.expires_after(kSnapshotEvery);
    timer.async_wait([this](boost::system::error_code failure) {
      if (failure) return;
      beat();
      engine.tick(wall_clock());
      engine.flush();
      publish();
      show();
      every_second();
    });
  }

  void show() {
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->taken = wall_clock();
    snapshot->ready = header.ready;
    snapshot->lag_seconds = report.lag_seconds;
    engine.metrics().collect(snapshot->metrics);
    collect_pipeline_metrics(engine, ingest, report, snapshot->metrics);
    snapshot->active = engine.book().active();
    snapshot->status_json = status_json(header, engine, ingest, report);
    outlets.snapshot(std::move(snapshot));
  }

  // Engine thread only.
  StatusHeader header;
  Engine engine;
  Ingest ingest;
  std::unique_ptr<StateStore> store;
  Acknowledged acknowledged;  // not stored yet
  TailReport report;
  Outlets outlets;

  // Any thread.
  boost::asio::io_context context{1};
  std::counting_semaphore<kChunksInFlight> slots{kChunksInFlight};
  std::atomic<bool> closed{false};
  std::atomic<SteadyClock::rep> heartbeat{0};

  boost::asio::steady_timer timer;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work;
  Inbox inbox{*this};
  std::thread thread;
};

EngineThread::EngineThread(EngineThreadOptions options, std::unique_ptr<StateStore> store,
                           Outlets outlets)
    : parts_(std::make_unique<Parts>(std::move(options), std::move(store), std::move(outlets))) {}

EngineThread::~EngineThread() {
  stop();
}

TailSink& EngineThread::inbox() {
  return parts_->inbox;
}

void EngineThread::pass_done(TailReport report) {
  boost::asio::post(parts_->context, [&parts = *parts_, report = std::move(report)]() mutable {
    parts.report = std::move(report);
    if (std::exchange(parts.header.ready, true)) return;
    parts.engine.flush();
    parts.publish();
    parts.show();
  });
}

void EngineThread::reconfigure(std::vector<RuleConfig> rules) {
  boost::asio::post(parts_->context, [&parts = *parts_, rules = std::move(rules)]() mutable {
    parts.engine.reconfigure(std::move(rules));
    parts.publish();
    parts.show();
  });
}

void EngineThread::fetch_alerts(std::uint64_t after, std::size_t limit,
                                std::function<void(Result<PublishedAlerts>)> done) {
  boost::asio::post(parts_->context, [&parts = *parts_, after, limit, done = std::move(done)] {
    done(parts.store->alerts_after(after, limit));
  });
}

void EngineThread::acknowledge(const std::string& name, std::uint64_t seq) {
  boost::asio::post(parts_->context, [&parts = *parts_, name, seq] {
    parts.acknowledged[name] = seq;
    parts.publish();
  });
}

std::chrono::steady_clock::time_point EngineThread::last_heartbeat() const {
  return SteadyClock::time_point{SteadyClock::duration{parts_->heartbeat.load()}};
}

void EngineThread::close_inbox() {
  parts_->closed = true;
}

void EngineThread::stop() {
  if (!parts_->thread.joinable()) return;
  close_inbox();
  boost::asio::post(parts_->context, [&parts = *parts_] {
    parts.timer.cancel();
    parts.engine.flush();
    parts.publish();
    parts.show();
    parts.work.reset();
  });
  parts_->thread.join();
}

}  // namespace trainwatch
