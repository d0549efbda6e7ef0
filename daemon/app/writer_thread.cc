// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/writer_thread.h"

#include <boost/asio/post.hpp>
#include <chrono>
#include <memory>
#include <utility>

#include "daemon/app/guarded_thread.h"

namespace trainwatch {

WriterThread::WriterThread(std::vector<WatchRoot> roots)
    : watch_(std::move(roots)),
      work_(boost::asio::make_work_guard(context_)),
      thread_([this] { run_guarded("writers", [this] { context_.run(); }); }) {}

WriterThread::~WriterThread() {
  context_.stop();
  thread_.join();
}

void WriterThread::ask(std::vector<RankProcess> writers, bool all) {
  if (gone_.valid()) return;
  auto answer = std::make_shared<std::promise<std::vector<RankProcess>>>();
  gone_ = answer->get_future();
  boost::asio::post(context_, [this, answer, all, writers = std::move(writers)] {
    answer->set_value(watch_.look(writers, all));
  });
}

std::vector<RankProcess> WriterThread::take_gone() {
  if (!gone_.valid() || gone_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    return {};
  }
  return gone_.get();
}

}  // namespace trainwatch
