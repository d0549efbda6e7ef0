// SPDX-License-Identifier: Apache-2.0
// One seed, one run: writers, a file system that misbehaves, a daemon that is killed, a subscriber
// that comes and goes, all by the dice; and the invariants that have to hold all along.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/daemon.h"
#include "model/faults.h"
#include "model/plan.h"
#include "model/subscriber.h"
#include "model/sum_rule.h"
#include "model/writers.h"
#include "rules/catalog.h"

namespace trainwatch::test {

class Simulation {
 public:
  Simulation(Plan plan, Coverage& coverage)
      : plan_(plan),
        coverage_(coverage),
        dice_(plan.seed),
        store_(store_around(memory_, plan.discipline)),
        daemon_(files_, *store_, limits(), rules(0), plan.trace),
        world_{files_,
               dice_,
               [this](const auto& what, const auto& detail) { did(what, detail); },
               [this](std::string_view kind) { return plan_.has(kind); },
               [this](const auto& path) { return safe_up_to(path); },
               [this](const auto& path) { read_first_line(path); },
               dice_.one_in(2)} {
    set_up_files();
    const std::uint64_t writers = dice_.between(1, 4);
    for (std::uint64_t i = 0; i < writers; ++i) {
      const std::string node = "n" + std::to_string(i);
      if (dice_.one_in(3)) {
        writers_.push_back(std::make_unique<MinuteWriter>(world_, node, oracle_.lane(node)));
      } else {
        writers_.push_back(std::make_unique<LogWriter>(world_, node, oracle_.lane(node)));
      }
    }
  }

  // What went wrong first; empty: nothing.
  std::string run() {
    start();
    const std::uint64_t actions = dice_.between(100, 300);
    for (std::uint64_t i = 0; i < actions && wrong_.empty(); ++i) act();
    if (wrong_.empty()) finish();
    if (plan_.trace && daemon_.up()) print_rejects();
    return wrong_;
  }
  const std::deque<std::string>& last_actions() const { return last_; }
  bool strict() const { return world_.strict; }
  const Oracle& oracle() const { return oracle_; }
  // What the subscriber heard, by sequence number.
  const std::map<std::uint64_t, std::string>& heard() const { return subscriber_.heard(); }

 private:
  static constexpr std::size_t kActionsKept = 40;

  TailLimits limits() {
    static constexpr std::array<std::size_t, 6> kChunks = {7, 64, 200, 1000, 4096, 65536};
    TailLimits limits;
    limits.chunk_bytes = kChunks[dice_.pick(kChunks.size())];
    limits.max_open_files = dice_.one_in(2) ? dice_.between(1, 4) : 64;
    limits.max_files = 256;
    return limits;
  }
  static std::vector<RuleConfig> rules(std::uint64_t variant) {
    std::vector<RuleConfig> rules = {RuleConfig(sum_rule())};
    for (const RuleSpec* spec : rule_catalog()) rules.emplace_back(*spec);
    if (variant == 0) return rules;
    const std::string few = std::to_string(5 * variant);
    for (RuleConfig& rule : rules) {
      (void)rule.set("patience", few);  // not every rule has it
    }
    return rules;
  }
  void set_up_files() {
    files_.make_directory("/r/logs");
    files_.make_directory("/r/system/incremental");
    // Without birth times a reused number looks like a renamed file.
    const bool births = !plan_.has("no births");
    files_.births(births);
    files_.reuse_inode_numbers(births && dice_.one_in(2));
    files_.generations(dice_.one_in(2));
    const bool remote = dice_.one_in(4);
    files_.remote(remote);
    faults_.remote(remote);
    if (dice_.one_in(4)) {
      files_.short_reads(dice_.between(5, 50));
      did("short reads", "");
    }
  }

  void did(const std::string& what, const std::string& detail) {
    ++coverage_[what];
    const std::string action = detail.empty() ? what : what + " " + detail;
    if (plan_.trace) std::printf("%s\n", action.c_str());
    if (calm_) return;
    last_.push_back(action);
    if (last_.size() > kActionsKept) last_.pop_front();
  }
  void print_rejects() const {
    for (const RejectedSample& rejected : daemon_.ingest().rejected()) {
      std::printf("rejected of %s as %s: %s\n", rejected.path.c_str(),
                  std::string(to_string(rejected.reason)).c_str(), rejected.text.c_str());
    }
  }
  void fail(const std::string& what) {
    if (wrong_.empty()) wrong_ = what;
  }

  void act() {
    const std::uint64_t side = dice_.pick(100);
    if (side < 45) return writers_[dice_.pick(writers_.size())]->act();
    if (side < 53) return dice_.one_in(3) ? faults_.heal() : faults_.strike(some_file());
    if (side < 60) return subscriber_acts();
    if (!daemon_.up()) {
      if (dice_.one_in(3)) start();
      return;
    }
    if (side < 64) return rare();
    work();
  }

  // -- the daemon

  void start() {
    if (const std::string why = daemon_.start(); !why.empty()) fail("start: " + why);
    did("start", "");
  }
  void work() {
    switch (dice_.pick(8)) {
      case 0:
        return scan("scan");
      case 1:
        did("refresh", "");
        if (!daemon_.refresh() && dice_.one_in(2)) scan("scan");
        return;
      case 2:
        return did("notification lost", "");
      case 3:
        return commit();
      case 4:
        scan("scan");
        while (daemon_.read()) {
        }
        return;
      default:
        did("read", "");
        for (std::uint64_t chunks = dice_.between(1, 30); chunks > 0 && daemon_.read(); --chunks) {
        }
        if (dice_.one_in(3)) commit();
    }
  }
  void scan(const std::string& why) {
    did(why, "");
    daemon_.scan();
    if (daemon_.tailer().files().size() > daemon_.limits().max_files) fail("too many files");
    if (daemon_.tailer().directories().size() > 64) fail("too many directories");
  }
  void commit() {
    now_ += std::chrono::seconds(1);
    if (dice_.one_in(3)) daemon_.flush();
    const auto published = daemon_.commit(now_);
    did(published ? "commit" : "commit fails", "");
    if (!published) return;
    subscriber_.hear(*published);
    judge();
  }
  void rare() {
    switch (dice_.pick(5)) {
      case 0:
      case 1:
        if (!plan_.has("kill")) return;
        did("kill", "");
        return daemon_.kill();
      case 2:
        if (!plan_.has("power")) return;
        did("power loss", "");
        daemon_.kill();
        if (world_.strict) return;
        for (const auto& writer : writers_) writer->lose_power();
        return;
      case 3:
        if (!plan_.has("reconfigure")) return;
        did("reconfigure", "");
        return daemon_.reconfigure(rules(dice_.pick(3)));
      default:
        return scan("overflow");
    }
  }

  // -- what surrounds it

  std::string some_file() {
    const auto& pieces = writers_[dice_.pick(writers_.size())]->pieces();
    if (pieces.empty()) return {};
    return std::next(pieces.begin(), static_cast<std::ptrdiff_t>(dice_.pick(pieces.size())))->path;
  }

  // -- the subscriber

  void subscriber_acts() {
    if (subscriber_.connected()) {
      did(dice_.one_in(2) ? "subscriber stalls" : "subscriber drops", "");
      return subscriber_.leave();
    }
    switch (dice_.pick(4)) {
      case 0:
        did("subscriber comes back from an old place", "");
        subscriber_.resume(*store_, dice_.pick(subscriber_.last() + 1), memory_.epoch());
        break;
      case 1:
        did("subscriber names another epoch", "");
        subscriber_.resume(*store_, subscriber_.last(), "another");
        break;
      default:
        did("subscriber comes back", "");
        subscriber_.resume(*store_, subscriber_.last(), memory_.epoch());
    }
    judge();
  }
  void judge() {
    if (!subscriber_.wrong().empty()) fail("subscriber: " + subscriber_.wrong());
    for (const PublishedAlert& alert : subscriber_.take_new()) {
      if (alert.rule != sum_rule().id) continue;
      if (plan_.trace) std::printf("    alert %s\n", alert.json.c_str());
      if (const std::string wrong = oracle_.check(alert.json); !wrong.empty()) fail(wrong);
    }
  }

  // -- calm

  // A look at everything and a commit. True when there was nothing new.
  bool look() {
    scan("scan");
    bool quiet = daemon_.tailer().unread_bytes() == 0;
    while (daemon_.read()) quiet = false;
    commit();
    return quiet;
  }
  // Until nothing was new for `quiet` looks.
  void drain(int quiet, int least) {
    faults_.heal();
    if (!daemon_.up()) start();
    did("drain", "");
    calm_ = true;
    int looks = 0;
    for (int row = 0; (row < quiet || looks < least) && wrong_.empty(); ++looks) {
      if (looks > 300) fail("no end: bytes stay unread" + unread());
      row = look() ? row + 1 : 0;
    }
    calm_ = false;
  }
  std::uint64_t safe_up_to(const std::string& path) {
    if (world_.strict) {
      drain(6, 0);  // a network file system is given four looks to be right about a size
      if (daemon_.committed_up_to(path) != files_.content(path).size()) {
        fail("not read to its end: " + path + unread());
      }
    }
    return daemon_.committed_up_to(path);
  }
  void read_first_line(const std::string& path) {
    if (!daemon_.up()) return;
    const std::size_t line = files_.content(path).find('\n');
    for (const TailedFile& file : daemon_.tailer().files()) {
      const bool begun = file.size > 0 && std::min(file.offset, file.size) <= line;
      const bool seen = file.offset == 0 && file.size > line;
      if (file.path == path && begun && !seen) return drain(6, 0);
    }
  }
  std::string unread() const {
    std::string text;
    for (const TailedFile& file : daemon_.tailer().files()) {
      text += "\n  " + file.path + ": " + std::to_string(file.offset) + " of " +
              std::to_string(file.size) + " " + file.error;
    }
    return text;
  }
  void finish() {
    for (const auto& writer : writers_) writer->stop();
    drain(8, 75);
    if (!subscriber_.connected()) {
      subscriber_.resume(*store_, subscriber_.last(), memory_.epoch());
    }
    judge();
    if (const std::string missing = oracle_.missing(); !missing.empty()) fail(missing);
    if (world_.strict && oracle_.lost() > 0) fail("a loss without a reason");
  }

  Plan plan_;
  Coverage& coverage_;
  Dice dice_;
  ModelFileSystem files_;
  MemoryStore memory_{"epoch-1"};
  std::unique_ptr<StoreAround> store_;
  SimDaemon daemon_;
  Oracle oracle_;
  Faults faults_{plan_, dice_, files_, memory_,
                 [this](const auto& what, const auto& detail) { did(what, detail); }};
  World world_;
  std::vector<std::unique_ptr<Writer>> writers_;
  Subscriber subscriber_{"epoch-1"};
  Time now_ = time_from_ns(1'795'300'000'000'000'000);
  std::deque<std::string> last_;
  std::string wrong_;
  bool calm_ = false;  // only looking, until there is nothing more to see
};

}  // namespace trainwatch::test
