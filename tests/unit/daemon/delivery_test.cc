// SPDX-License-Identifier: Apache-2.0
#include "daemon/notify/delivery.h"

#include <gtest/gtest.h>

#include "tests/unit/daemon/notified.h"

namespace trainwatch {
namespace {

bool loud(const NotifiedAlert&) {
  return false;
}
bool quiet(const NotifiedAlert&) {
  return true;
}

// What one step sends, delivered at once: "firing warning", "resolved", "nothing".
class DeliveryTest : public testing::Test {
 protected:
  std::string take(const TestAlert& alert, const Delivery::Silenced& silenced = loud) {
    return done(delivery_.take(notified(alert), silenced));
  }
  std::string overdue(const Delivery::Silenced& silenced = loud) {
    return done(delivery_.overdue(silenced));
  }
  std::string done(const std::optional<Notification>& sent) {
    if (!sent) return "nothing";
    delivery_.delivered(*sent);
    return sent->idempotency_key();
  }

  Delivery delivery_{Severity::warning, {}};
};

TEST_F(DeliveryTest, SendsBeginAndEndOnce) {
  EXPECT_EQ(take({}), "a1-firing-warning");
  EXPECT_EQ(take({.seq = 2, .summary = "slower"}), "nothing");
  EXPECT_EQ(take({.seq = 3, .firing = false}), "a1-resolved");
  EXPECT_EQ(take({.seq = 4, .firing = false, .summary = "explained"}), "nothing");
  EXPECT_TRUE(delivery_.heard().empty());
}

TEST_F(DeliveryTest, WhoDidNotHearOfItDoesNotHearItsEnd) {
  EXPECT_EQ(take({.severity = Severity::info}), "nothing");
  EXPECT_EQ(take({.seq = 2, .firing = false, .severity = Severity::info}), "nothing");
  EXPECT_EQ(take({.id = "a2", .seq = 3, .firing = false}), "nothing");
}

TEST_F(DeliveryTest, SaysWhenTheSeverityRises) {
  EXPECT_EQ(take({.severity = Severity::info}), "nothing");
  EXPECT_EQ(take({.seq = 2, .severity = Severity::warning}), "a1-firing-warning");
  EXPECT_EQ(take({.seq = 3, .severity = Severity::critical}), "a1-firing-critical");
  EXPECT_EQ(take({.seq = 4, .severity = Severity::critical}), "nothing");
  EXPECT_EQ(take({.seq = 5, .firing = false, .severity = Severity::critical}), "a1-resolved");
}

TEST_F(DeliveryTest, PartsOfIncidentsAreNotSent) {
  EXPECT_EQ(take({.part = true}), "nothing");
  EXPECT_EQ(take({.seq = 2, .firing = false, .part = true}), "nothing");
}

TEST_F(DeliveryTest, ASilencedAlertIsSentWhenTheSilenceEndsWhileItFires) {
  EXPECT_EQ(take({}, quiet), "nothing");
  EXPECT_EQ(overdue(quiet), "nothing");
  EXPECT_EQ(delivery_.held(), 1U);
  EXPECT_EQ(overdue(), "a1-firing-warning");
  EXPECT_EQ(overdue(), "nothing");
  EXPECT_EQ(take({.seq = 2, .firing = false}, quiet), "a1-resolved");
}

TEST_F(DeliveryTest, OneThatEndsWithinItsSilenceIsNeverSent) {
  EXPECT_EQ(take({}, quiet), "nothing");
  EXPECT_EQ(take({.seq = 2, .firing = false}), "nothing");
  EXPECT_EQ(overdue(), "nothing");
}

TEST_F(DeliveryTest, ASilenceHoldsARiseBack) {
  EXPECT_EQ(take({}), "a1-firing-warning");
  EXPECT_EQ(take({.seq = 2, .severity = Severity::critical}, quiet), "nothing");
  EXPECT_EQ(overdue(), "a1-firing-critical");
}

TEST_F(DeliveryTest, AnUpdateAfterTheSilenceIsEnough) {
  EXPECT_EQ(take({}, quiet), "nothing");
  EXPECT_EQ(take({.seq = 2}), "a1-firing-warning");
  EXPECT_EQ(overdue(), "nothing");
}

TEST_F(DeliveryTest, ANewReceiverHearsWhatFires) {
  delivery_.fires(notified({}));
  delivery_.fires(notified({.id = "a2", .severity = Severity::info}));
  EXPECT_EQ(overdue(), "a1-firing-warning");
  EXPECT_EQ(overdue(), "nothing");
}

TEST_F(DeliveryTest, ARestartRepeatsNothing) {
  delivery_ = Delivery(Severity::warning, {{"a1", Severity::warning}});
  delivery_.fires(notified({}));
  EXPECT_EQ(overdue(), "nothing");
  EXPECT_EQ(take({.seq = 2}), "nothing");
  EXPECT_EQ(take({.seq = 3, .firing = false}), "a1-resolved");
}

TEST_F(DeliveryTest, BeginAndEndMayBeUnderwayTogether) {
  const auto begin = delivery_.take(notified({}), loud);
  const auto end = delivery_.take(notified({.seq = 2, .firing = false}), loud);
  ASSERT_TRUE(begin && end);
  delivery_.delivered(*begin);
  delivery_.delivered(*end);
  EXPECT_TRUE(delivery_.heard().empty());
}

TEST_F(DeliveryTest, ForgetsWhatCannotEndAnyMore) {
  take({});
  take({.id = "a2", .seq = 2});
  EXPECT_EQ(delivery_.forget_others({"a2"}), std::vector<std::string>{"a1"});
  EXPECT_EQ(delivery_.heard().size(), 1U);
}

// A receiver that is killed at any moment: before a delivery, after it, before it was stored.
// Compared with what each alert's life demands.
class KilledReceiver {
 public:
  explicit KilledReceiver(std::uint32_t seed) : random_(seed) { write_log(); }

  void run() {
    int kills = 0;
    while (stored_.position < log_.size()) {
      Delivery delivery(Severity::warning, stored_.heard);
      for (const TestAlert& alert : firing_at(stored_.position)) delivery.fires(notified(alert));
      const std::size_t life = kills++ < 200 ? below(30) : 100'000;
      live(delivery, life);
    }
  }

  // Each key as often as it was delivered, in the order of the first delivery.
  std::vector<std::string> keys_of(const std::string& id) const {
    std::vector<std::string> keys;
    for (const auto& [first, key] : first_) {
      if (key.starts_with(id + "-")) keys.push_back(key);
    }
    return keys;
  }

  std::vector<std::string> expected_of(const std::string& id) const {
    std::vector<std::string> keys;
    std::optional<Severity> known;
    for (const TestAlert& alert : log_) {
      if (alert.id != id || alert.part) continue;
      if (!alert.firing) {
        if (known) keys.push_back(id + "-resolved");
        return keys;
      }
      if (alert.severity < Severity::warning || (known && *known >= alert.severity)) continue;
      known = alert.severity;
      keys.push_back(id + "-firing-" + std::string(to_string(alert.severity)));
    }
    return keys;
  }

  static constexpr int kAlerts = 60;

 private:
  std::size_t below(std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_);
  }

  void write_log() {
    std::vector<TestAlert> open;
    for (int next = 0; next < kAlerts || !open.empty();) {
      if (next < kAlerts && (open.empty() || below(3) == 0)) {
        open.push_back({.id = "a" + std::to_string(next++),
                        .severity = static_cast<Severity>(below(3)),
                        .part = below(8) == 0});
        log_.push_back(open.back());
      } else {
        const std::size_t which = below(open.size());
        TestAlert& alert = open[which];
        alert.severity = std::max(alert.severity, static_cast<Severity>(below(3)));
        alert.firing = below(4) != 0;
        log_.push_back(alert);
        if (!alert.firing) open.erase(open.begin() + static_cast<std::ptrdiff_t>(which));
      }
      log_.back().seq = log_.size();
    }
  }

  std::vector<TestAlert> firing_at(std::size_t position) const {
    std::map<std::string, TestAlert> latest;
    for (const TestAlert& alert : log_) latest[alert.id] = alert;
    std::vector<TestAlert> firing;
    for (const auto& [id, alert] : latest) {
      if (alert.firing && alert.seq <= position) firing.push_back(alert);
    }
    return firing;
  }

  // Until `steps` are over: then it is killed.
  void live(Delivery& delivery, std::size_t steps) {
    for (std::size_t position = stored_.position; position < log_.size() && steps > 0; ++position) {
      const auto sent = delivery.take(notified(log_[position]), loud);
      if (sent) {
        if (--steps == 0) return;  // before it arrived
        first_.try_emplace(order_of(sent->idempotency_key()), sent->idempotency_key());
        if (--steps == 0) return;  // it arrived, and nobody stored that
        delivery.delivered(*sent);
      }
      if (sent || below(4) == 0) stored_ = {position + 1, delivery.heard()};
      if (steps > 0) --steps;
    }
    if (steps > 0) stored_ = {log_.size(), delivery.heard()};
  }

  std::size_t order_of(const std::string& key) const {
    for (const auto& [order, known] : first_) {
      if (known == key) return order;
    }
    return first_.size();
  }

  struct Stored {
    std::size_t position = 0;
    Delivery::Heard heard;
  };
  std::minstd_rand random_;
  std::vector<TestAlert> log_;
  Stored stored_;
  std::map<std::size_t, std::string> first_;  // keys by the order of their first delivery
};

TEST(DeliveryModel, KillsLoseNothingAndSendNothingNewTwice) {
  for (std::uint32_t seed = 1; seed <= 30; ++seed) {
    KilledReceiver receiver(seed);
    receiver.run();
    for (int i = 0; i < KilledReceiver::kAlerts; ++i) {
      const std::string id = "a" + std::to_string(i);
      EXPECT_EQ(receiver.keys_of(id), receiver.expected_of(id)) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace trainwatch
