// SPDX-License-Identifier: Apache-2.0
#include "pipeline/state/sqlite_repair.h"

#include <sstream>
#include <vector>

#include "pipeline/engine/alert_json.h"
#include "pipeline/state/sqlite_schema.h"

namespace trainwatch {
namespace {

std::string wrong(std::string_view checksum) {
  return " WHERE crc IS NOT " + std::string(checksum);
}

// Numbers of the damaged alerts.
Result<std::vector<std::uint64_t>> damaged_alerts(SqliteDatabase& database) {
  const Result<std::string> listed =
      database.ask("SELECT group_concat(seq, ' ') FROM outbox" + wrong(kAlertChecksum));
  if (!listed) return listed.error();
  std::vector<std::uint64_t> numbers;
  std::istringstream text(*listed);
  for (std::uint64_t seq = 0; text >> seq;) numbers.push_back(seq);
  return numbers;
}

Result<std::uint64_t> count(SqliteDatabase& database, const std::string& rows) {
  const Result<std::string> found = database.ask("SELECT count(*) FROM " + rows);
  if (!found) return found.error();
  return std::stoull(*found);
}

// Takes the number of a damaged alert, so that the sequence stays unbroken.
PublishedAlert notice_of_damage(std::uint64_t seq, std::string_view epoch) {
  Alert alert;
  alert.id = "damaged-" + std::to_string(seq);
  alert.seq = seq;
  alert.state = Alert::State::resolved;
  alert.rule = "_self/state_damaged";
  alert.incident = alert.id;
  alert.verdict.summary = "this alert was damaged in the state directory and cannot be shown";
  return published(alert, to_json(alert), epoch);
}

Status replace(SqliteTables& tables, const std::vector<std::uint64_t>& numbers,
               std::string_view epoch) {
  SqliteDatabase& database = tables.database();
  for (const std::uint64_t seq : numbers) {
    const std::string forget = "DELETE FROM told WHERE seq = " + std::to_string(seq);
    if (Status done = database.run(forget); !done) return done;
    // The time at which it was stored may be damaged, too: without one it is pruned first.
    if (Status done = tables.add(notice_of_damage(seq, epoch), Time{}); !done) return done;
  }
  return success();
}

}  // namespace

std::string Repaired::text() const {
  std::string said;
  const auto add = [&said](std::uint64_t rows, std::string_view of, std::string_view what) {
    if (rows == 0) return;
    said += (said.empty() ? "" : "; ") + std::to_string(rows) + " " + std::string(of) + " " +
            std::string(what);
  };
  add(alerts, "kept alerts", "cannot be shown any more");
  add(versions, "alerts", "may be published once more");
  add(subscribers, "subscribers", "have lost their position");
  add(notes, "silences and notifications", "are forgotten");
  return said;
}

Result<Repaired> repair(SqliteTables& tables, std::string_view epoch) {
  SqliteDatabase& database = tables.database();
  const std::string versions = "told" + wrong(kLastPublishedChecksum);
  const std::string subscribers = "subscriber" + wrong(kSubscriberChecksum);
  const std::string notes = "note" + wrong(kNoteChecksum);
  const auto alerts = damaged_alerts(database);
  if (!alerts) return alerts.error();
  const auto lost_versions = count(database, versions);
  if (!lost_versions) return lost_versions.error();
  const auto lost_subscribers = count(database, subscribers);
  if (!lost_subscribers) return lost_subscribers.error();
  const auto lost_notes = count(database, notes);
  if (!lost_notes) return lost_notes.error();
  const Repaired done{alerts->size(), *lost_versions, *lost_subscribers, *lost_notes};
  if (done.text().empty()) return done;
  if (Status begun = database.run("BEGIN IMMEDIATE; DELETE FROM " + versions + "; DELETE FROM " +
                                  subscribers + "; DELETE FROM " + notes);
      !begun) {
    return begun.error();
  }
  if (Status replaced = replace(tables, *alerts, epoch); !replaced) return replaced.error();
  if (Status committed = database.run("COMMIT"); !committed) return committed.error();
  return done;
}

}  // namespace trainwatch
