// SPDX-License-Identifier: Apache-2.0
// All receivers of notifications, and the silences. Net thread only.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "daemon/notify/receiver.h"
#include "daemon/notify/silence_book.h"
#include "daemon/otlp/otlp_exporter.h"
#include "daemon/repeating_timer.h"
#include "pipeline/engine/self_alerts.h"
#include "trainwatch/snapshot.h"

namespace trainwatch {

struct NotifierOptions {
  std::vector<ReceiverConfig> receivers;
  std::vector<Silence> silences;
  std::string base_url;  // where people find the page, without a slash at its end
};

class Notifier {
 public:
  struct Surroundings {
    boost::asio::io_context& io;
    AlertHub& hub;
    Logger& log;
    std::function<Time()> now;
    std::string user_agent;
    // Metrics that snapshots lack, for those who push them.
    std::function<std::vector<MetricFamily>()> more_metrics;
    // What is wrong, for self-alerts; called once a second while there is something.
    std::function<void(std::vector<SelfCondition>)> conditions;
  };

  // `acknowledged` and `notes` are those of the store at the start.
  Notifier(Surroundings surroundings, AlertStoreClient store, const Acknowledged& acknowledged,
           const Notes& notes);
  ~Notifier();

  // Replaces receivers and silences, at the start and on each reload. Receivers that stay keep
  // their position; those that are gone are forgotten. On an error, such as a file with a URL that
  // cannot be read, nothing changes.
  Status configure(NotifierOptions options);
  // Begins to notify; the store can be asked from now on.
  void start();
  // Stores what receivers have got, and sends nothing more. Before the store closes.
  void stop();

  // All receivers have everything, but for those that cannot be reached.
  bool delivered() const;

  // Whether there are OpenTelemetry collectors, which want a snapshot each second.
  bool pushes_metrics() const;
  // The latest snapshot, about once a second, for OpenTelemetry collectors. Before a stop it is
  // pushed at once, as it may be the last.
  void show(const std::shared_ptr<const Snapshot>& snapshot, bool before_stop);

  SilenceBook& silences() { return silences_; }
  void collect(std::vector<MetricFamily>& out) const;
  // A lookup of a host name has not returned: the process should exit without waiting for it.
  bool hangs() const { return resolver_.busy(); }

 private:
  struct Entry {
    std::unique_ptr<Receiver> receiver;
    std::unique_ptr<OtlpExporter> exporter;  // of metrics; null: none
    std::uint64_t generation = 0;            // of configure()
    bool started = false;
  };

  std::unique_ptr<OtlpExporter> make_exporter(const Receiver& receiver);
  void start_new();
  void every_second();
  void collect_exporters(std::vector<MetricFamily>& out) const;
  std::vector<SelfCondition> conditions() const;
  ReceiverPosition position_of(const std::string& name) const;
  void forget(const std::string& name, const ReceiverPosition& position);

  Surroundings surroundings_;
  AlertStoreClient store_;
  HostResolver resolver_;
  SilenceBook silences_;
  ReceiverSurroundings shared_;
  std::map<std::string, ReceiverPosition> kept_;  // of receivers that are not configured (yet)
  std::map<std::string, Entry> receivers_;        // by name
  AlertHub::Registration registration_;
  RepeatingTimer timer_;
  std::uint64_t generation_ = 0;
  bool running_ = false;
  bool fetching_ = false;
  bool had_conditions_ = false;
  std::shared_ptr<int> alive_ = std::make_shared<int>();
};

}  // namespace trainwatch
