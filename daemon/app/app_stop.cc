// SPDX-License-Identifier: Apache-2.0
#include <boost/asio/post.hpp>
#include <chrono>
#include <utility>

#include "daemon/app/app_impl.h"
#include "daemon/config/config_text.h"

namespace trainwatch {
namespace {

// What a stop takes beside draining, at most.
constexpr auto kClosing = std::chrono::seconds(5);

}  // namespace

Drain::Stages App::Impl::drain_stages() {
  Drain::Stages stages;
  stages.read = [this](Drain::Done done) { reader->read_to_end(std::move(done)); };
  stages.judge = [this](Drain::Done done) {
    engine->conclude(options.config.process.ends_with_job, std::move(done));
  };
  stages.file_call = [this] { return reader->call_duration(); };
  stages.delivered = [this] { return !server->needs_store() && notifier->delivered(); };
  stages.finished = [this](Drain::Outcome outcome) { drained(outcome); };
  return stages;
}

void App::Impl::drain() {
  if (shutting_down || draining.begun()) return;
  const Nanos timeout = options.config.process.drain_timeout;
  if (timeout == Nanos{}) return shut_down();
  service.stopping(timeout + kClosing);
  log->info("reading the files to their end before stopping");
  draining.begin(timeout);
}

void App::Impl::drained(Drain::Outcome outcome) {
  if (outcome == Drain::Outcome::too_long) {
    log->warn("stopping before the end of the files; the next start resumes there",
              {{"process.drain_timeout", print_duration(options.config.process.drain_timeout)}});
  }
  shut_down(outcome == Drain::Outcome::hangs ? kFileCallPatience / 2 : kFileCallPatience);
}

// Stops reading, processes what was read, emits what is held back, closes sockets.
void App::Impl::shut_down(std::chrono::milliseconds patience) {
  if (std::exchange(shutting_down, true)) return;
  draining.stop();
  service.stopping(kClosing);
  log->info("stopping");
  signals.cancel();
  watchdog.stop();
  decoding_looks.stop();
  server->store_acknowledged();
  notifier->stop();
  engine->close_inbox();
  const auto deadline = std::chrono::steady_clock::now() + patience;
  workers.request_stop();
  if (access_watch != nullptr) access_watch->request_stop();
  traces->stop();
  tensors->stop();
  const bool reader_hangs = !reader->stop(patience);
  engine->stop();
  if (!reader_hangs) reader.reset();
  const bool access_hangs = access_watch != nullptr && !access_watch->wait_stopped(deadline);
  hangs = !workers.wait_stopped(deadline) || reader_hangs || access_hangs || notifier->hangs();
  // The last alerts have been posted by now; sockets close after them.
  boost::asio::post(context, [this] {
    if (console != nullptr) console->end();
    server->close();
  });
}

}  // namespace trainwatch
