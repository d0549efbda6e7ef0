// SPDX-License-Identifier: Apache-2.0
#include "daemon/notify/notifier.h"

#include <algorithm>
#include <array>
#include <utility>

namespace trainwatch {
namespace {

constexpr std::size_t kMostFiringAlerts = 10'000;
constexpr auto kFailsFor = std::chrono::minutes(3);

struct Target {
  ReceiverConfig config;
  HttpTarget http;
};

Result<Target> target_of(const ReceiverConfig& config) {
  const auto failed = [&config](const std::string& why) {
    return Error{"receivers: " + config.name + ": " + why};
  };
  std::string url = config.url;
  if (!config.url_file.empty()) {
    auto read = read_secret(config.url_file);
    if (!read) return failed(read.error().message);
    url = std::move(*read);
  }
  auto http = parse_http_url(url);
  if (!http) return failed(http.error().message);
  return Target{config, std::move(*http)};
}

bool same_endpoint(const HttpTarget& a, const HttpTarget& b) {
  return a.tls == b.tls && a.authority() == b.authority() && a.path == b.path;
}

Severity severity_named(std::string_view name) {
  for (const Severity each : {Severity::critical, Severity::warning}) {
    if (to_string(each) == name) return each;
  }
  return Severity::info;
}

// "heard/NAME/ID"
std::map<std::string, ReceiverPosition> kept_positions(const Acknowledged& acknowledged,
                                                       const Notes& notes) {
  std::map<std::string, ReceiverPosition> kept;
  for (const auto& [name, seq] : acknowledged) {
    if (name.starts_with(kReceiverPrefix)) kept[name.substr(kReceiverPrefix.size())].seq = seq;
  }
  for (const auto& [key, value] : notes) {
    if (!key.starts_with(Receiver::kNotePrefix)) continue;
    const auto slash = key.rfind('/');
    const auto begin = Receiver::kNotePrefix.size();
    if (slash <= begin) continue;
    const auto position = kept.find(key.substr(begin, slash - begin));
    if (position == kept.end()) continue;
    position->second.heard[key.substr(slash + 1)] = severity_named(value);
  }
  return kept;
}

}  // namespace

Notifier::Notifier(Surroundings surroundings, AlertStoreClient store,
                   const Acknowledged& acknowledged, const Notes& notes)
    : surroundings_(std::move(surroundings)),
      store_(std::move(store)),
      resolver_(surroundings_.io),
      silences_(
          notes,
          [this](Notes changed) {
            store_.keep({"", 0, std::move(changed), false});
          },
          surroundings_.now()),
      shared_{surroundings_.io, resolver_,         surroundings_.hub, store_,
              silences_,        surroundings_.log, surroundings_.now, surroundings_.user_agent},
      kept_(kept_positions(acknowledged, notes)),
      timer_(surroundings_.io) {
  registration_ = surroundings_.hub.listen({[this] {
                                              for (auto& [name, entry] : receivers_)
                                                entry.receiver->wake();
                                            },
                                            [](const std::vector<PublishedAlertPtr>&) {}});
}

Notifier::~Notifier() = default;

// A receiver that nobody knew begins with what fires now, not with the whole log.
ReceiverPosition Notifier::position_of(const std::string& name) const {
  if (const auto running = receivers_.find(name); running != receivers_.end()) {
    return running->second.receiver->position();
  }
  if (const auto kept = kept_.find(name); kept != kept_.end()) return kept->second;
  return {surroundings_.hub.last_seq(), {}};
}

Status Notifier::configure(NotifierOptions options) {
  std::map<std::string, Entry> chosen;
  ++generation_;
  for (const ReceiverConfig& config : options.receivers) {
    auto target = target_of(config);
    if (!target) return target.error();
    const auto running = receivers_.find(config.name);
    const bool stays = running != receivers_.end() &&
                       running->second.receiver->config() == config &&
                       running->second.receiver->base_url() == options.base_url &&
                       same_endpoint(running->second.receiver->target(), target->http);
    if (stays) continue;
    auto receiver = std::make_unique<Receiver>(shared_, config, std::move(target->http),
                                               options.base_url, position_of(config.name));
    auto exporter = make_exporter(*receiver);
    chosen[config.name] = {std::move(receiver), std::move(exporter), generation_, false};
  }
  // No error from here on.
  for (auto& [name, entry] : receivers_) {
    entry.receiver->store();
    const auto same_name = [&name = name](const auto& config) { return config.name == name; };
    if (std::ranges::none_of(options.receivers, same_name)) {
      forget(name, entry.receiver->position());
    } else if (!chosen.contains(name)) {
      chosen[name] = std::move(entry);
    }
  }
  receivers_ = std::move(chosen);
  for (const auto& [name, position] : std::exchange(kept_, {})) {
    if (!receivers_.contains(name)) forget(name, position);
  }
  silences_.configure(std::move(options.silences));
  if (running_) start_new();
  return success();
}

std::unique_ptr<OtlpExporter> Notifier::make_exporter(const Receiver& receiver) {
  const ReceiverConfig& config = receiver.config();
  if (config.type != ReceiverType::otlp || config.interval == Nanos{}) return nullptr;
  return std::make_unique<OtlpExporter>(
      surroundings_.io, resolver_,
      OtlpOptions{{.target = below(receiver.target(), "/v1/metrics"),
                   .credentials = config.credentials,
                   .tls = config.tls,
                   .user_agent = surroundings_.user_agent},
                  std::chrono::duration_cast<std::chrono::milliseconds>(config.interval),
                  otlp_resource(receiver.base_url())},
      surroundings_.more_metrics, surroundings_.log);
}

bool Notifier::pushes_metrics() const {
  return std::ranges::any_of(receivers_,
                             [](const auto& entry) { return entry.second.exporter != nullptr; });
}

void Notifier::show(const std::shared_ptr<const Snapshot>& snapshot, bool before_stop) {
  for (auto& [name, entry] : receivers_) {
    if (entry.exporter == nullptr) continue;
    entry.exporter->show(snapshot, Receiver::Clock::now());
    if (before_stop) entry.exporter->push_last();
  }
}

void Notifier::forget(const std::string& name, const ReceiverPosition& position) {
  KeptDelivery gone{std::string(kReceiverPrefix) + name, 0, {}, true};
  for (const auto& [id, severity] : position.heard) {
    std::string note(Receiver::kNotePrefix);
    note.append(name).append("/").append(id);
    gone.notes[std::move(note)] = "";
  }
  store_.keep(std::move(gone));
}

void Notifier::start() {
  running_ = true;
  timer_.start(std::chrono::seconds(1), [this] { every_second(); });
  start_new();
}

void Notifier::start_new() {
  const auto is_new = [](const auto& entry) { return !entry.second.started; };
  if (fetching_ || std::ranges::none_of(receivers_, is_new)) return;
  fetching_ = true;
  for (auto& [name, entry] : receivers_) {
    if (!entry.started) entry.receiver->store();  // so that the log is kept for it
  }
  store_.fetch_firing(kMostFiringAlerts, [this, alive = std::weak_ptr(alive_), asked = generation_](
                                             const AlertStoreClient::Page& firing) {
    if (alive.expired() || !running_) return;
    fetching_ = false;
    if (!firing) return;  // tried again in a second
    if (firing->size() >= kMostFiringAlerts) {
      surroundings_.log.warn("too many alerts fire for new receivers to hear of all");
    }
    for (auto& [name, entry] : receivers_) {
      if (entry.started || entry.generation > asked) continue;
      entry.started = true;
      entry.receiver->start(*firing);
    }
  });
}

void Notifier::every_second() {
  silences_.expire(surroundings_.now());
  start_new();
  for (auto& [name, entry] : receivers_) {
    if (entry.started) entry.receiver->tick();
  }
  auto found = conditions();
  const bool changed = !found.empty() || had_conditions_;
  had_conditions_ = !found.empty();
  if (changed) surroundings_.conditions(std::move(found));
}

std::vector<SelfCondition> Notifier::conditions() const {
  std::vector<SelfCondition> found;
  const auto now = Receiver::Clock::now();
  for (const auto& [name, entry] : receivers_) {
    if (const auto refusals = entry.receiver->recent_refusals(now)) {
      found.push_back({"notification_refused", name, Severity::warning,
                       static_cast<double>(refusals->lost), "notifications",
                       "receiver " + name + " refused " + std::to_string(refusals->lost) +
                           " notifications, which are lost: " + refusals->why,
                       "Look into the log of trainwatch for what the receiver says, and check its "
                       "type."});
    }
    const auto since = entry.receiver->failing_since();
    if (!since || now - *since < kFailsFor) continue;
    const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(now - *since).count();
    found.push_back({"notification_failing", name, Severity::warning, static_cast<double>(minutes),
                     "minutes",
                     "receiver " + name + " cannot be notified: " + entry.receiver->last_error(),
                     "Check the receiver and its url; what it misses is sent when it is back, as "
                     "far as the log of alerts reaches."});
  }
  return found;
}

bool Notifier::delivered() const {
  return std::ranges::all_of(receivers_, [](const auto& entry) {
    const Receiver& receiver = *entry.second.receiver;
    if (entry.second.exporter != nullptr && entry.second.exporter->busy()) return false;
    return receiver.failing_since() || (!receiver.busy() && receiver.behind() == 0);
  });
}

void Notifier::stop() {
  if (!std::exchange(running_, false)) return;
  timer_.stop();
  for (auto& [name, entry] : receivers_) entry.receiver->store();
  receivers_.clear();
}

void Notifier::collect(std::vector<MetricFamily>& out) const {
  struct Row {
    const char* name;
    const char* help;
    MetricType type;
    double (*value)(const Receiver&);
  };
  static constexpr std::array kRows{
      Row{"trainwatch_notifications_total", "Notifications that receivers accepted: requests.",
          MetricType::counter,
          [](const Receiver& r) { return static_cast<double>(r.counters().sent); }},
      Row{"trainwatch_notifications_failed_total",
          "Requests to receivers that failed; they are retried unless refused.",
          MetricType::counter,
          [](const Receiver& r) { return static_cast<double>(r.counters().failed); }},
      Row{"trainwatch_notifications_refused_total",
          "Notifications given up because the receiver refused them.", MetricType::counter,
          [](const Receiver& r) { return static_cast<double>(r.counters().refused); }},
      Row{"trainwatch_notifications_missed_total",
          "Alerts that left the log before a receiver was notified.", MetricType::counter,
          [](const Receiver& r) { return static_cast<double>(r.missed()); }},
      Row{"trainwatch_notification_backlog",
          "Alerts of the log that a receiver has not dealt with.", MetricType::gauge,
          [](const Receiver& r) { return static_cast<double>(r.behind()); }},
  };
  if (receivers_.empty()) return;
  const auto labels = [](const Receiver& receiver) {
    return Labels{{"receiver", receiver.config().name},
                  {"integration", to_string(receiver.config().type)}};
  };
  for (const Row& row : kRows) {
    MetricFamily family{row.name, row.help, row.type, {}, {}};
    for (const auto& [name, entry] : receivers_) {
      family.points.push_back({labels(*entry.receiver), row.value(*entry.receiver), {}, 0});
    }
    out.push_back(std::move(family));
  }
  const HistogramBounds bounds = WaitHistogram::bounds(Cardinality::normal);
  MetricFamily latency =
      bounds.family("trainwatch_notification_latency_seconds", "Time of requests to receivers.");
  for (const auto& [name, entry] : receivers_) {
    latency.points.push_back(
        entry.receiver->counters().latency.point(labels(*entry.receiver), bounds));
  }
  out.push_back(std::move(latency));
  collect_exporters(out);
}

void Notifier::collect_exporters(std::vector<MetricFamily>& out) const {
  MetricFamily requests{"trainwatch_otlp_requests_total",
                        "Requests with metrics to OpenTelemetry collectors, by result.",
                        MetricType::counter,
                        {},
                        {}};
  MetricFamily rejected{"trainwatch_otlp_points_rejected_total",
                        "Data points that OpenTelemetry collectors rejected.",
                        MetricType::counter,
                        {},
                        {}};
  for (const auto& [name, entry] : receivers_) {
    if (entry.exporter == nullptr) continue;
    const OtlpExporter::Counters& counted = entry.exporter->counters();
    const auto add = [&name = name](MetricFamily& family, std::uint64_t count,
                                    std::string_view result = {}) {
      Labels labels{{"receiver", name}};
      if (!result.empty()) labels = Labels{{"receiver", name}, {"result", result}};
      family.points.push_back({std::move(labels), static_cast<double>(count), {}, 0});
    };
    add(requests, counted.accepted, "accepted");
    add(requests, counted.failed, "failed");
    add(rejected, counted.points_rejected);
  }
  if (requests.points.empty()) return;
  out.push_back(std::move(requests));
  out.push_back(std::move(rejected));
}

}  // namespace trainwatch
