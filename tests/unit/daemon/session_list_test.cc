// SPDX-License-Identifier: Apache-2.0
#include "daemon/net/session_list.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "daemon/net/ws_session.h"

namespace trainwatch {
namespace {

class CountingSession final : public WsSession {
 public:
  void alerts_published() override { ++published; }
  void provisional_alerts(const std::vector<PublishedAlertPtr>&) override {}
  void status_changed() override {}
  void steps_closed(const std::shared_ptr<const Snapshot>&) override {}
  void tensors_saved(const std::shared_ptr<const TensorNews>&) override {}
  bool wants_tensors() const override { return false; }
  bool needs_store() const override { return published > 0; }
  void shut_down() override {}

  int published = 0;
};

TEST(SessionList, HasThoseThatWereAddedAndNotRemoved) {
  std::vector<std::shared_ptr<CountingSession>> sessions;
  SessionList list;
  for (int i = 0; i < 5; ++i) {
    sessions.push_back(std::make_shared<CountingSession>());
    list.add(sessions.back());
  }
  list.remove(*sessions[0]);
  list.remove(*sessions[4]);
  list.remove(*sessions[4]);  // is not there any more
  EXPECT_EQ(list.size(), 3U);
  list.for_each([](WsSession& session) { session.alerts_published(); });
  std::vector<int> published;
  for (const auto& session : sessions) published.push_back(session->published);
  EXPECT_EQ(published, (std::vector<int>{0, 1, 1, 1, 0}));
}

TEST(SessionList, LooksForASession) {
  const auto session = std::make_shared<CountingSession>();
  SessionList list;
  const auto needs_store = [](const WsSession& one) { return one.needs_store(); };
  list.add(std::make_shared<CountingSession>());
  list.add(session);
  EXPECT_FALSE(list.any_of(needs_store));
  session->alerts_published();
  EXPECT_TRUE(list.any_of(needs_store));
  list.clear();
  EXPECT_FALSE(list.any_of(needs_store));
}

// A copy goes through those that leave the list meanwhile.
TEST(SessionList, ACopyKeepsSessionsAlive) {
  SessionList list;
  list.add(std::make_shared<CountingSession>());
  list.add(std::make_shared<CountingSession>());
  const SessionList copy = list;
  copy.for_each([&](WsSession& session) { list.remove(session); });
  EXPECT_EQ(list.size(), 0U);
  EXPECT_EQ(copy.size(), 2U);
}

}  // namespace
}  // namespace trainwatch
