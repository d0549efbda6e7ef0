// SPDX-License-Identifier: Apache-2.0
#include "daemon/net/named_subscribers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/daemon/memory_alert_store.h"

namespace trainwatch::named_subscribers_test {

using testing::ElementsAre;
using testing::Pair;

class NamedSubscribersTest : public testing::Test {
 protected:
  MemoryAlertStore alert_store_;
  NamedSubscribers names_{{{"pager", 2}}, alert_store_.api().acknowledge, 64};
};

TEST_F(NamedSubscribersTest, CursorsAreStoredLazily) {
  int due = 0;
  names_.when_due([&due] { ++due; });
  for (std::uint64_t seq = 3; seq <= 50; ++seq) names_.acknowledge("pager", seq);
  EXPECT_EQ(due, 1);
  EXPECT_EQ(alert_store_.acknowledgements, 0U);
  names_.store();
  names_.store();
  EXPECT_EQ(alert_store_.acknowledgements, 1U);
  EXPECT_THAT(alert_store_.acknowledged, ElementsAre(Pair("pager", 50)));
  names_.acknowledge("pager", 51);
  EXPECT_EQ(due, 2);
}

TEST_F(NamedSubscribersTest, NewNamesAreStoredAtOnceAndOthersIgnored) {
  EXPECT_TRUE(names_.attach("cron", 7));
  EXPECT_THAT(alert_store_.acknowledged, ElementsAre(Pair("cron", 7)));
  names_.acknowledge("nobody", 9);
  names_.acknowledge("pager", 2);
  names_.store();
  EXPECT_EQ(alert_store_.acknowledgements, 1U);
  EXPECT_EQ(names_.find("nobody"), std::nullopt);
}

TEST_F(NamedSubscribersTest, WhoNeverAcknowledgedIsForgottenFirst) {
  NamedSubscribers names{{{"pager", 2}}, alert_store_.api().acknowledge, 2};
  for (int i = 0; i < 100; ++i) {
    const std::string name = "scan" + std::to_string(i);
    EXPECT_TRUE(names.attach(name, 5));
    names.detach(name);
  }
  EXPECT_EQ(names.count(), 2U);
  EXPECT_EQ(names.forgotten(), 99U);
  EXPECT_EQ(names.find("pager"), 2U);
}

TEST_F(NamedSubscribersTest, TheOneUnusedForLongestIsForgotten) {
  NamedSubscribers names{{}, alert_store_.api().acknowledge, 2};
  for (const char* name : {"a", "b"}) {
    EXPECT_TRUE(names.attach(name, 0));
    names.acknowledge(name, 3);
    names.detach(name);
  }
  EXPECT_TRUE(names.attach("a", 9));  // comes back, and goes
  names.detach("a");
  EXPECT_TRUE(names.attach("c", 4));
  EXPECT_EQ(names.find("a"), 3U);
  EXPECT_EQ(names.find("b"), std::nullopt);
}

TEST_F(NamedSubscribersTest, WhoIsConnectedKeepsItsName) {
  NamedSubscribers names{{}, alert_store_.api().acknowledge, 1};
  EXPECT_TRUE(names.attach("a", 0));
  EXPECT_FALSE(names.attach("b", 0));
  EXPECT_EQ(names.refused(), 1U);
  names.detach("a");
  EXPECT_TRUE(names.attach("b", 0));
}

// The store forgets what was stored longest ago: that must be the same name.
TEST_F(NamedSubscribersTest, WhatIsKeptIsStoredAgain) {
  NamedSubscribers names{{{"pager", 2}, {"shift", 3}}, alert_store_.api().acknowledge, 3};
  EXPECT_TRUE(names.attach("scan1", 5));
  names.detach("scan1");
  EXPECT_TRUE(names.attach("scan2", 5));
  alert_store_.acknowledged.clear();
  names.store();
  EXPECT_THAT(alert_store_.acknowledged, ElementsAre(Pair("pager", 2), Pair("shift", 3)));
}

TEST(SubscriberName, HasFewCharacters) {
  for (const char* good : {"a", "pager", "A-1.b_c"}) EXPECT_TRUE(is_subscriber_name(good)) << good;
  for (const char* bad : {"", "a b", "a/b", "\xc3\xa4", "a\n", "\""}) {
    EXPECT_FALSE(is_subscriber_name(bad)) << bad;
  }
  EXPECT_TRUE(is_subscriber_name(std::string(64, 'x')));
  EXPECT_FALSE(is_subscriber_name(std::string(65, 'x')));
}

}  // namespace trainwatch::named_subscribers_test
