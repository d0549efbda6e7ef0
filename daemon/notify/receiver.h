// SPDX-License-Identifier: Apache-2.0
// Notifies one receiver: reads the log of alerts from the receiver's position, sends what it should
// know, one request at a time, and moves the position on once it has it. Net thread only.
//
// Position and heard alerts are stored together soon after each delivery. A restart repeats at most
// what was delivered since, with the same idempotency keys; an alert's end is sent only once its
// begin was stored, so that no alert begins again after its end. A receiver that is down holds
// nobody else up: what it misses waits in the log.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/config/receiver_config.h"
#include "daemon/http_client/http_client.h"
#include "daemon/logging.h"
#include "daemon/notify/alertmanager_alerts.h"
#include "daemon/notify/backoff.h"
#include "daemon/notify/delivery.h"
#include "daemon/notify/outbox_reader.h"
#include "daemon/notify/silence_book.h"
#include "pipeline/analysis/core/histogram.h"

namespace trainwatch {

// What all receivers share. Outlives them.
struct ReceiverSurroundings {
  boost::asio::io_context& io;
  HostResolver& resolver;
  const AlertHub& hub;
  const AlertStoreClient& store;
  const SilenceBook& silences;
  Logger& log;
  std::function<Time()> now;  // the wall clock
  std::string user_agent;
};

// Where a receiver goes on.
struct ReceiverPosition {
  std::uint64_t seq = 0;
  Delivery::Heard heard{};
};

class Receiver {
 public:
  using Clock = std::chrono::steady_clock;

  static constexpr std::string_view kNotePrefix = "heard/";

  struct Counters {
    std::uint64_t sent = 0;     // requests that were accepted
    std::uint64_t failed = 0;   // that were not, tries included
    std::uint64_t refused = 0;  // notifications given up because the receiver refused them
    WaitHistogram latency;      // of requests
  };

  // `target` is config.url, or what url_file says. `base_url` is for links.
  Receiver(const ReceiverSurroundings& surroundings, ReceiverConfig config, HttpTarget target,
           std::string base_url, ReceiverPosition position);

  // `firing`: the alerts that fire now. Nothing is sent before.
  void start(const std::vector<PublishedAlertPtr>& firing);
  // There are new alerts.
  void wake();
  // Once a second: silences that ended, alerts to send again.
  void tick();
  // Stores what was not stored yet.
  void store();

  const ReceiverConfig& config() const { return config_; }
  const HttpTarget& target() const { return target_; }
  const std::string& base_url() const { return base_url_; }
  const Counters& counters() const { return counters_; }
  // As far as the log has been dealt with, and of which alerts it knows.
  ReceiverPosition position() const { return {position_, delivery_.heard()}; }
  std::uint64_t missed() const { return reader_.missed(); }
  // Alerts of the log that it has not dealt with.
  std::uint64_t behind() const { return surroundings_.hub.last_seq() - position_; }
  // A request is underway.
  bool busy() const { return client_.busy(); }
  // Since the first failure in a row; none: it works.
  std::optional<Clock::time_point> failing_since() const { return failing_since_; }
  const std::string& last_error() const { return last_error_; }
  // Notifications that it refused lately, without those about trainwatch itself. None: there were
  // none in the last ten minutes.
  struct Refusals {
    std::uint64_t lost = 0;
    Clock::time_point latest{};
    std::string why;
  };
  std::optional<Refusals> recent_refusals(Clock::time_point now) const;

 private:
  void pump();
  void gather();
  bool take(const NotifiedAlertPtr& alert);
  void send_next();
  void answered(const Result<ReceivedResponse>& response, Clock::time_point begun);
  void note_refusal(int status);
  void delivered();
  void retry(const std::string& why, std::optional<std::chrono::seconds> retry_after);
  void store_soon();
  bool must_store_first() const;
  bool silenced(const NotifiedAlert& alert) const;
  std::string body_of(const Notification& notification) const;
  std::string note_key(const std::string& id) const;

  const ReceiverSurroundings& surroundings_;
  ReceiverConfig config_;
  HttpTarget target_;
  std::string base_url_;
  HttpClient client_;
  OutboxReader reader_;
  Delivery delivery_;
  std::optional<AlertmanagerAlerts> alertmanager_;  // if it is one
  std::vector<Notification> batch_;                 // underway; one, but for an Alertmanager
  std::vector<std::string> bodies_;                 // requests that are left to send of it
  std::uint64_t position_;                          // before the batch
  bool started_ = false;

  // A wait that has expired when the receiver goes is still reported.
  std::shared_ptr<int> alive_ = std::make_shared<int>();
  boost::asio::steady_timer retry_timer_;
  boost::asio::steady_timer store_timer_;
  bool waits_ = false;  // to try again
  Backoff backoff_;
  std::optional<Clock::time_point> failing_since_;
  std::string last_error_;
  std::optional<Refusals> refusals_;
  std::uint64_t stored_;  // position that was given to the store
  // Alerts whose begin was delivered but may not be stored yet, with the position at delivery.
  std::map<std::string, std::uint64_t> unconfirmed_;
  bool waits_for_store_ = false;
  Notes notes_;  // not stored yet
  Clock::time_point last_stored_{};
  Counters counters_;
};

}  // namespace trainwatch
