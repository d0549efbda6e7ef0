// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/self_alerts.h"

#include <string>

#include "pipeline/engine/alert_json.h"
#include "trainwatch/json_writer.h"

namespace trainwatch {
namespace {

constexpr double kLaggingSeconds = 60;

// "1 file", "3 files"
std::string counted(double number, const char* noun) {
  const auto whole = static_cast<long long>(number);
  return std::to_string(whole) + " " + noun + (whole == 1 ? "" : "s");
}

Alert opened(Time now, const SelfCondition& condition) {
  Alert alert;
  alert.rule = "_self/" + std::string(condition.kind);
  RuleSpec spec;
  spec.id = alert.rule;
  alert.id = alert_id(spec, {}, condition.source, now);
  alert.severity = condition.severity;
  alert.started_at = now;
  alert.updated_at = now;
  Verdict& verdict = alert.verdict;
  verdict.severity = condition.severity;
  verdict.at = now;
  verdict.key = condition.source;
  verdict.value = condition.value;
  verdict.unit = condition.unit;
  verdict.summary = condition.summary;
  verdict.next = condition.next;
  JsonWriter evidence;
  evidence.begin_object();
  if (!condition.source.empty()) evidence.field("source", condition.source);
  verdict.evidence = evidence.end_object().take();
  return alert;
}

}  // namespace

std::vector<SelfCondition> conditions_of(const SourceHealthTracker& tracker) {
  std::vector<SelfCondition> found;
  for (const auto& [name, health] : tracker.sources()) {
    const std::string source = "source " + name + ": ";
    const auto add = [&, &name = name](std::string_view kind, double value, std::string_view unit,
                                       std::string summary, std::string_view next) {
      found.push_back({kind, name, Severity::warning, value, unit, std::move(summary), next});
    };
    if (health.unreadable_files > 0) {
      const auto files = static_cast<double>(health.unreadable_files);
      add("unreadable", files, "files",
          source + counted(files, "file") + " cannot be read: " + health.example,
          "Check permissions and the mount, unless it says something else; trainwatch retries by "
          "itself.");
    }
    if (health.lag_seconds >= kLaggingSeconds) {
      add("lagging", health.lag_seconds, "seconds",
          source + "unread bytes for " + counted(health.lag_seconds, "second"),
          "Check trainwatch's CPU time and the speed of the disk; alerts are late, but none is "
          "lost.");
    }
    if (health.stuck_files > 0) {
      add("stuck", static_cast<double>(health.stuck_files), "files", source + health.example,
          "The writer stopped there: check whether it is alive. The record is completed when the "
          "rest arrives.");
    }
    if (health.recent_rejects > 0) {
      const auto records = static_cast<double>(health.recent_rejects);
      add("rejected", records, "records", source + counted(records, "record") + " rejected",
          "Find the reason in /api/v1/status; with --web.debug it shows the first bytes, too.");
    }
    if (health.recent_left_out > 0) {
      const auto times = static_cast<double>(health.recent_left_out);
      const std::string file = health.crowded.empty() ? "its files" : health.crowded;
      add("no_room", times, "times",
          source + file +
              " has more names, ranks or series than its share of the tables, or holds more than "
              "there "
              "is memory for",
          "Check what the file is. What it has beyond its share is left out, and other files have "
          "room; if it is right, raise input.max_names, max_subjects or max_series.");
    }
    if (health.recent_lost > 0) {
      const auto bytes = static_cast<double>(health.recent_lost);
      add("truncated", bytes, "bytes",
          source + counted(bytes, "byte") + " truncated before being read",
          "Rotate by renaming, or leave the copy beside the file until it has been read.");
    }
  }
  return found;
}

std::string monitor_sentence(const std::vector<SelfCondition>& conditions) {
  const SelfCondition* worst = nullptr;
  std::size_t others = 0;
  for (const SelfCondition& condition : conditions) {
    if (condition.severity == Severity::info) continue;
    if (worst != nullptr) ++others;
    if (worst == nullptr || condition.severity > worst->severity) worst = &condition;
  }
  if (worst == nullptr) return {};
  std::string text = "Monitoring is impaired: " + worst->summary;
  if (others > 0) text += "; and " + std::to_string(others) + " more";
  return text + ".";
}

std::vector<Alert> SelfAlerts::update(Time now, const std::vector<SelfCondition>& conditions) {
  std::vector<Alert> changed;
  for (const SelfCondition& condition : conditions) {
    const auto key = std::pair(std::string(condition.kind), condition.source);
    const auto known = open_.find(key);
    const bool fresh = known == open_.end();
    if (!fresh) known->second.last_seen = now;
    if (!fresh && (known->second.firing || now - known->second.alert.started_at < kPause)) continue;
    Open& open = open_[key];
    open = {true, now, opened(now, condition)};
    changed.push_back(open.alert);
  }
  for (auto& [key, open] : open_) {
    if (!open.firing || now - open.last_seen < kGone) continue;
    open.firing = false;
    open.alert.state = Alert::State::resolved;
    open.alert.updated_at = open.alert.ended_at = now;
    changed.push_back(open.alert);
  }
  std::erase_if(open_, [now](const auto& entry) {
    return !entry.second.firing && now - entry.second.alert.started_at >= kPause;
  });
  return changed;
}

}  // namespace trainwatch
