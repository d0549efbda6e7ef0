// SPDX-License-Identifier: Apache-2.0
#include "daemon/notify/receiver.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <random>
#include <set>
#include <utility>

#include "daemon/http_client/retry_after.h"
#include "daemon/notify/notification_text.h"
#include "daemon/notify/otlp_log.h"

namespace trainwatch {
namespace {

constexpr std::size_t kBatch = 256;           // notifications of an Alertmanager at a time
constexpr std::size_t kAlertsOfRequest = 64;  // as Prometheus sends them
constexpr int kReadAtOnce = 1000;             // of the log, before others have their turn
constexpr std::chrono::milliseconds kStoreEvery{100};

// It is about this notification: the same again would not help. All others may pass: a token that
// has expired, a path that is being deployed, a proxy.
bool is_refusal(int status) {
  return status == 400 || status == 413 || status == 422;
}

HttpTarget endpoint_of(const ReceiverConfig& config, const HttpTarget& target) {
  switch (config.type) {
    case ReceiverType::alertmanager:
      return below(target, "/api/v2/alerts");
    case ReceiverType::otlp:
      return below(target, "/v1/logs");
    case ReceiverType::webhook:
    case ReceiverType::slack:
      break;
  }
  return target;
}

}  // namespace

Receiver::Receiver(const ReceiverSurroundings& surroundings, ReceiverConfig config,
                   HttpTarget target, std::string base_url, ReceiverPosition position)
    : surroundings_(surroundings),
      config_(std::move(config)),
      target_(std::move(target)),
      base_url_(std::move(base_url)),
      client_(surroundings.io, surroundings.resolver,
              {.target = endpoint_of(config_, target_),
               .credentials = config_.credentials,
               .tls = config_.tls,
               .user_agent = surroundings.user_agent}),
      reader_(surroundings.hub, surroundings.store, position.seq, [this] { pump(); }),
      delivery_(config_.min_severity, std::move(position.heard)),
      position_(position.seq),
      retry_timer_(surroundings.io),
      store_timer_(surroundings.io),
      backoff_(std::random_device{}()),
      stored_(position.seq) {
  if (config_.type == ReceiverType::alertmanager) alertmanager_.emplace(base_url_, config_.resend);
}

void Receiver::start(const std::vector<PublishedAlertPtr>& firing) {
  std::set<std::string> ids;
  for (const PublishedAlertPtr& published : firing) {
    ids.insert(published->id);
    const auto alert = notified_alert(published);
    if (!alert) continue;
    const auto known = delivery_.heard().find(published->id);
    if (alertmanager_ && known != delivery_.heard().end()) {
      alertmanager_->fires(*alert, known->second, surroundings_.now());
    }
    if (published->seq <= position_) delivery_.fires(*alert);
  }
  // What ended in a part of the log that is gone: nobody can say so any more.
  if (position_ + 1 < surroundings_.hub.first_seq()) {
    for (const std::string& id : delivery_.forget_others(ids)) notes_[note_key(id)] = "";
  }
  started_ = true;
  if (!notes_.empty()) store();
  pump();
}

bool Receiver::silenced(const NotifiedAlert& alert) const {
  return surroundings_.silences.covers(alert, surroundings_.now());
}

std::string Receiver::note_key(const std::string& id) const {
  return std::string(kNotePrefix) + config_.name + "/" + id;
}

void Receiver::wake() {
  pump();
}

void Receiver::tick() {
  pump();
  if (position_ != stored_) store();
}

void Receiver::pump() {
  if (!started_ || client_.busy() || waits_ || waits_for_store_) return;
  if (bodies_.empty()) gather();
  send_next();
}

// Adds a version of an alert to the batch, if the receiver is to know. True: it is full.
bool Receiver::take(const NotifiedAlertPtr& alert) {
  if (alertmanager_) alertmanager_->update(alert);
  auto news = delivery_.take(alert, [this](const auto& each) { return silenced(each); });
  if (news) batch_.push_back(std::move(*news));
  return batch_.size() >= (alertmanager_ ? kBatch : 1);
}

// Fills the batch, unless one is underway, and makes its requests.
void Receiver::gather() {
  const bool again = !batch_.empty();
  bool full = again;
  int read = 0;
  for (; !full && read < kReadAtOnce; ++read) {
    const PublishedAlertPtr published = reader_.next();
    if (published == nullptr) break;
    if (const auto alert = notified_alert(published)) full = take(*alert);
  }
  if (read == kReadAtOnce) {
    boost::asio::post(surroundings_.io, [this, alive = std::weak_ptr(alive_)] {
      if (!alive.expired()) pump();
    });
  }
  while (!full && reader_.at_end()) {
    auto news = delivery_.overdue([this](const auto& each) { return silenced(each); });
    if (!news) break;
    batch_.push_back(std::move(*news));
    full = batch_.size() >= (alertmanager_ ? kBatch : 1);
  }
  if (batch_.empty()) position_ = reader_.position();
  if (alertmanager_) {
    const Time now = surroundings_.now();
    for (const Notification& each : batch_) {
      if (again) break;
      each.ends ? alertmanager_->ends(each.alert, each.severity, now)
                : alertmanager_->fires(each.alert, each.severity, now);
    }
    bodies_ = alertmanager_->due(now, kAlertsOfRequest);
    if (bodies_.empty() && !batch_.empty()) delivered();
  } else if (!batch_.empty()) {
    bodies_ = {body_of(batch_.front())};
  }
}

std::string Receiver::body_of(const Notification& notification) const {
  if (config_.type == ReceiverType::slack) return slack_body(notification, base_url_);
  if (config_.type == ReceiverType::webhook)
    return webhook_body(notification, config_.name, base_url_);
  return otlp_log_request(notification, otlp_resource(base_url_), base_url_, surroundings_.now());
}

// Its begin would come after its end if the process were killed now.
bool Receiver::must_store_first() const {
  return std::ranges::any_of(batch_, [this](const Notification& each) {
    return each.ends && unconfirmed_.contains(each.alert->id());
  });
}

void Receiver::send_next() {
  if (bodies_.empty()) return;
  if (must_store_first()) {
    waits_for_store_ = true;
    return store();
  }
  HttpPost post{.body = bodies_.front()};
  if (!alertmanager_) {
    post.headers.emplace_back("Idempotency-Key", batch_.front().idempotency_key());
  }
  client_.post(std::move(post),
               [this, begun = Clock::now()](const Result<ReceivedResponse>& response) {
                 answered(response, begun);
               });
}

void Receiver::answered(const Result<ReceivedResponse>& response, Clock::time_point begun) {
  counters_.latency.observe(std::chrono::duration<double>(Clock::now() - begun).count());
  const int status = response ? response->status : 0;
  if (status >= 200 && status < 300) {
    ++counters_.sent;
  } else if (is_refusal(status)) {
    ++counters_.failed;
    note_refusal(status);
    surroundings_.log.error("a receiver refuses a notification, which is lost",
                            {{"receiver", config_.name},
                             {"status", std::to_string(status)},
                             {"response", shortened(response->body, 200)}});
  } else {
    ++counters_.failed;
    const std::string why =
        response ? "status " + std::to_string(status) + " from " + target_.authority()
                 : response.error().message;
    const auto pause =
        response ? parse_retry_after(response->retry_after, std::chrono::system_clock::now())
                 : std::nullopt;
    return retry(why, pause);
  }
  backoff_.succeeded();
  if (failing_since_) {
    failing_since_.reset();
    surroundings_.log.info("a receiver takes notifications again", {{"receiver", config_.name}});
  }
  bodies_.erase(bodies_.begin());
  if (bodies_.empty()) delivered();
  pump();
}

// A refused notification about refusals makes no other one.
void Receiver::note_refusal(int status) {
  const std::size_t lost = std::max<std::size_t>(batch_.size(), 1);
  counters_.refused += lost;
  const bool of_itself = !batch_.empty() && std::ranges::all_of(batch_, [](const auto& each) {
    return each.alert->shown.rule.starts_with("_self/");
  });
  if (of_itself) return;
  const auto now = Clock::now();
  if (!recent_refusals(now)) refusals_ = Refusals{};
  refusals_->lost += lost;
  refusals_->latest = now;
  refusals_->why = "status " + std::to_string(status) + " from " + target_.authority();
}

std::optional<Receiver::Refusals> Receiver::recent_refusals(Clock::time_point now) const {
  constexpr auto kRecently = std::chrono::minutes(10);
  if (refusals_ && now - refusals_->latest > kRecently) return std::nullopt;
  return refusals_;
}

void Receiver::delivered() {
  if (alertmanager_) alertmanager_->delivered(surroundings_.now());
  for (const Notification& each : batch_) {
    delivery_.delivered(each);
    notes_[note_key(each.alert->id())] = each.ends ? "" : std::string(to_string(each.severity));
  }
  position_ = reader_.position();
  for (const Notification& each : batch_) {
    if (!alertmanager_ && !each.ends) unconfirmed_[each.alert->id()] = position_;
  }
  batch_.clear();
  if (!notes_.empty()) store_soon();
}

void Receiver::retry(const std::string& why, std::optional<std::chrono::seconds> retry_after) {
  last_error_ = why;
  if (!failing_since_) {
    failing_since_ = Clock::now();
    surroundings_.log.warn("cannot notify a receiver; retrying",
                           {{"receiver", config_.name}, {"error", why}});
  }
  bodies_.clear();  // made anew, with the times of then
  waits_ = true;
  retry_timer_.expires_after(backoff_.failed(retry_after));
  retry_timer_.async_wait([this, alive = std::weak_ptr(alive_)](const auto& error) {
    if (error || alive.expired()) return;
    waits_ = false;
    pump();
  });
}

void Receiver::store_soon() {
  const auto due = last_stored_ + kStoreEvery;
  if (Clock::now() >= due) return store();
  store_timer_.expires_at(due);
  store_timer_.async_wait([this, alive = std::weak_ptr(alive_)](const auto& error) {
    if (!error && !alive.expired()) store();
  });
}

void Receiver::store() {
  last_stored_ = Clock::now();
  stored_ = position_;
  auto stored = [this, seq = position_, alive = std::weak_ptr(alive_)] {
    if (alive.expired()) return;
    std::erase_if(unconfirmed_, [seq](const auto& begin) { return begin.second <= seq; });
    if (std::exchange(waits_for_store_, false)) pump();
  };
  surroundings_.store.keep({.name = std::string(kReceiverPrefix) + config_.name,
                            .seq = position_,
                            .notes = std::exchange(notes_, {}),
                            .stored = std::move(stored)});
}

}  // namespace trainwatch
