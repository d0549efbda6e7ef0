// SPDX-License-Identifier: Apache-2.0
#include "daemon/net/connection_table.h"

#include <gtest/gtest.h>

namespace trainwatch::connection_table_test {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Phase = ConnectionTable::Phase;

const ClientAddress kLocal{"127.0.0.1", true};
const ClientAddress kRemote{"192.0.2.1", false};

class ConnectionTableTest : public testing::Test {
 protected:
  // 5 connections, of which at most 3 are busy, or 4 if one is vital.
  static HttpLimits limits() {
    HttpLimits limits;
    limits.connections = 4;
    limits.per_address = 2;
    limits.reserved = 1;
    return limits;
  }

  ConnectionTable::Admission admit(const ClientAddress& from = kLocal) {
    return table_.admit(from, now_ += milliseconds(1));
  }
  ConnectionTable::Id add(Phase phase, const ClientAddress& from = kLocal) {
    const auto id = admit(from).id.value();
    table_.enter(id, phase, now_ += milliseconds(1));
    return id;
  }
  ConnectionTable::Start start(ConnectionTable::Id id, bool vital = false) {
    return table_.start(id, vital, now_);
  }

  ConnectionTable table_{limits()};
  ConnectionTable::Clock::time_point now_{};
};

TEST_F(ConnectionTableTest, WhoNeverAskedGivesWayFirst) {
  add(Phase::waiting);
  add(Phase::answering);
  const auto idle = add(Phase::idle);
  const auto first = add(Phase::fresh);
  const auto second = add(Phase::fresh);
  EXPECT_EQ(admit().gives_way, first);
  EXPECT_EQ(admit().gives_way, second);
  EXPECT_EQ(table_.open(), 5U);
  table_.enter(*admit().id, Phase::idle, now_);
  table_.enter(*admit().id, Phase::idle, now_);
  EXPECT_EQ(admit().gives_way, idle);
}

TEST_F(ConnectionTableTest, WhoWasAnsweredForTheLastTimeGivesWayBeforeAllOthers) {
  add(Phase::fresh);
  add(Phase::idle);
  const auto answered = add(Phase::closing);
  add(Phase::fresh);
  add(Phase::fresh);
  EXPECT_EQ(admit().gives_way, answered);
}

// Else a connection would give way to those that are accepted with it, before anything is read.
TEST_F(ConnectionTableTest, WhoHasNotAskedHasAQuarterOfThePlaces) {
  add(Phase::waiting);
  add(Phase::answering);
  const auto first = add(Phase::idle);
  const auto second = add(Phase::idle);
  add(Phase::answering);
  EXPECT_EQ(admit().gives_way, first);
  const auto fresh = admit();
  EXPECT_NE(fresh.gives_way, second);
  table_.remove(*fresh.id);
  add(Phase::idle);
  EXPECT_EQ(admit().gives_way, second);
}

// The time since the last request counts, not the age of the connection.
TEST_F(ConnectionTableTest, WhoAskedLastGivesWayLast) {
  const auto first = add(Phase::idle);
  const auto second = add(Phase::idle);
  for (int i = 0; i < 3; ++i) add(Phase::idle);
  EXPECT_TRUE(start(first).allowed);
  table_.enter(first, Phase::idle, now_);
  EXPECT_EQ(admit().gives_way, second);
}

TEST_F(ConnectionTableTest, ASlowReaderGivesWayAndAQuickOneDoesNot) {
  const auto reader = add(Phase::answering);
  add(Phase::answering);
  add(Phase::waiting);
  const auto asking = add(Phase::fresh);
  EXPECT_FALSE(start(asking).allowed);
  EXPECT_EQ(table_.in(Phase::fresh), 1U);
  now_ += seconds(1);
  const auto started = start(asking);
  EXPECT_TRUE(started.allowed);
  EXPECT_EQ(started.gives_way, reader);
  EXPECT_EQ(table_.in(Phase::answering), 2U);
}

TEST_F(ConnectionTableTest, WhatIsVitalIsServed) {
  for (int i = 0; i < 3; ++i) add(Phase::waiting);
  const auto other = add(Phase::fresh);
  const auto first = add(Phase::fresh);
  EXPECT_FALSE(start(other).allowed);
  EXPECT_TRUE(start(first, true).allowed);
  const auto second = add(Phase::fresh);
  const auto started = start(second, true);
  EXPECT_TRUE(started.allowed);
  EXPECT_EQ(started.gives_way, first);
}

TEST_F(ConnectionTableTest, NobodyGivesWayWhoWaits) {
  for (int i = 0; i < 5; ++i) add(Phase::waiting);
  EXPECT_EQ(admit().id, std::nullopt);
  EXPECT_EQ(table_.drop_reader(true, 0, now_), std::nullopt);
}

TEST_F(ConnectionTableTest, ReadersGiveWayToOthersOnly) {
  const auto reader = add(Phase::answering);
  EXPECT_EQ(table_.drop_reader(true, reader, now_), std::nullopt);
  EXPECT_EQ(table_.drop_reader(false, 0, now_), std::nullopt);
  EXPECT_EQ(table_.drop_reader(true, 0, now_), reader);
}

TEST_F(ConnectionTableTest, AnAddressHasItsShareAndLoopbackHasNone) {
  const auto first = add(Phase::idle, kRemote);
  table_.count(kRemote);  // a WebSocket
  EXPECT_EQ(admit(kRemote).id, std::nullopt);
  EXPECT_EQ(admit(kRemote).limit, Limit::per_address);
  EXPECT_TRUE(admit({"192.0.2.2", false}).id);
  table_.remove(first);
  EXPECT_TRUE(admit(kRemote).id);
  table_.forget(kRemote);
  EXPECT_TRUE(admit(kRemote).id);
  for (int i = 0; i < 9; ++i) EXPECT_TRUE(admit().id);
}

TEST_F(ConnectionTableTest, WhatHasLeftIsIgnored) {
  const auto id = add(Phase::idle);
  table_.remove(id);
  table_.remove(id);
  table_.enter(id, Phase::answering, now_);
  EXPECT_EQ(table_.open(), 0U);
  EXPECT_EQ(table_.in(Phase::answering), 0U);
}

}  // namespace trainwatch::connection_table_test
