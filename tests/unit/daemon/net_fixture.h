// SPDX-License-Identifier: Apache-2.0
// For tests of the network half: a server on a free port, run by a thread, above an alert store in
// memory. Its clients are in wire_client.h.
#pragma once

#include <gtest/gtest.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "daemon/net/http_server.h"
#include "tests/unit/daemon/memory_alert_store.h"
#include "tests/unit/daemon/wire_client.h"

namespace trainwatch {

inline PublishedAlertPtr make_alert(std::uint64_t seq, const std::string& rule = "step_spike",
                                    Severity severity = Severity::warning,
                                    Alert::State state = Alert::State::firing,
                                    std::size_t padding = 0) {
  PublishedAlert alert{seq, "id" + std::to_string(seq), rule, severity, state, ""};
  alert.json = R"({"id":")" + alert.id + R"(","seq":)" + std::to_string(seq) + R"(,"rule":")" +
               rule + R"(","summary":")" + std::string(padding, 'x') + R"("})";
  return std::make_shared<const PublishedAlert>(std::move(alert));
}

inline PublishedAlertPtr make_provisional(const std::string& id) {
  PublishedAlert alert{0, id, "step_spike", Severity::warning, Alert::State::firing, ""};
  alert.json = R"({"id":")" + id + R"(","rule":"step_spike"})";
  return std::make_shared<const PublishedAlert>(std::move(alert));
}

inline std::vector<PublishedAlertPtr> make_alerts(std::uint64_t first, std::uint64_t last,
                                                  std::size_t padding = 0) {
  std::vector<PublishedAlertPtr> alerts;
  for (auto seq = first; seq <= last; ++seq) {
    alerts.push_back(
        make_alert(seq, "step_spike", Severity::warning, Alert::State::firing, padding));
  }
  return alerts;
}

// Answers of the store come at once, unless they are held.
class TestServer {
 public:
  explicit TestServer(NetOptions options = {}, WindowLimits window = {},
                      MemoryAlertStore store = {}, std::uint16_t port = 0, DataSources sources = {})
      : alert_store_(std::move(store)),
        hub_(alert_store_.epoch, alert_store_.first_seq(), alert_store_.last_seq, window) {
    options.port = port;
    options.limits.http.metrics = {};  // each page of a test is a new one
    server_.emplace(io_, std::move(options), hub_, alert_store_.api([this] { answer_later(); }),
                    std::move(sources));
    const auto listening = server_->listen();
    if (!listening) throw std::runtime_error(listening.error().message);
    port_ = server_->port();
    thread_ = std::thread([this] { io_.run(); });
  }

  ~TestServer() { stop(); }

  // Closes and waits until nothing is left to do.
  void stop() {
    if (!thread_.joinable()) return;
    on_net([this] {
      server_->close();
      work_.reset();
    });
    thread_.join();
  }

  template <class F>
  void on_net(F task) {
    std::promise<void> done;
    boost::asio::post(io_, [&] {
      task();
      done.set_value();
    });
    done.get_future().wait();
  }

  void publish(std::vector<PublishedAlertPtr> alerts) {
    on_net([&] {
      alert_store_.store(alerts);
      hub_.publish(std::move(alerts));
    });
  }
  void publish_provisional(const std::vector<PublishedAlertPtr>& alerts) {
    on_net([&] { hub_.publish_provisional(alerts); });
  }
  // The store drops what is older; the hub hears of it unless `silently`.
  void prune(std::uint64_t first_seq, bool silently = false) {
    on_net([&] {
      alert_store_.prune(first_seq);
      if (!silently) hub_.pruned(first_seq);
    });
  }
  // While held, requests wait for release().
  void hold() {
    on_net([this] { held_ = true; });
  }
  void release() {
    on_net([this] {
      held_ = false;
      while (alert_store_.answer()) {
      }
    });
  }
  // What `look` says of the store, on the net thread.
  template <class F>
  auto alert_store(F look) {
    decltype(look(alert_store_)) seen{};
    on_net([&] { seen = look(alert_store_); });
    return seen;
  }
  template <class F>
  void on_store(F change) {
    on_net([&] { change(alert_store_); });
  }
  void store_acknowledged() {
    on_net([this] { server_->store_acknowledged(); });
  }
  // Blocks until `look` says true, for kPatience at most.
  template <class F>
  bool store_becomes(F look) {
    return becomes([&] { return alert_store(look); });
  }
  void publish(std::uint64_t first, std::uint64_t last) { publish(make_alerts(first, last)); }
  void show(Snapshot snapshot) {
    on_net([&] { server_->show(std::make_shared<const Snapshot>(std::move(snapshot))); });
  }

  // On the net thread, after what it is doing.
  void later(std::function<void(NetServer&)> task) {
    boost::asio::post(io_, [this, task = std::move(task)] { task(*server_); });
  }

  std::uint16_t port() const { return port_; }

 private:
  void answer_later() {
    boost::asio::post(io_, [this] {
      if (!held_) alert_store_.answer();
    });
  }

  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      io_.get_executor()};
  MemoryAlertStore alert_store_;
  bool held_ = false;
  AlertHub hub_;
  std::optional<NetServer> server_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

}  // namespace trainwatch
