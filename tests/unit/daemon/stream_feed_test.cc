// SPDX-License-Identifier: Apache-2.0
#include "daemon/net/stream_feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/daemon/net_fixture.h"

namespace trainwatch::stream_feed_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

// A hub with a window of three, above a store that has everything.
class StreamFeedTest : public testing::Test {
 protected:
  void publish(std::uint64_t first, std::uint64_t last) {
    alert_store_.store(make_alerts(first, last));
    hub_.publish(make_alerts(first, last));
  }
  void prune(std::uint64_t first) {
    alert_store_.prune(first);
    hub_.pruned(first);
  }
  StreamFeed feed(const Subscription& subscription) { return {hub_, names_, subscription}; }

  // What a feed says until it has nothing more to say, without the hello. The store answers
  // whenever the feed needs a page.
  std::vector<std::string> drain(StreamFeed& feed) {
    std::vector<std::string> out;
    do {
      while (auto frame = feed.next()) append(out, frame->text());
    } while (answer_page(feed));
    return out;
  }

  bool answer_page(StreamFeed& feed) {
    const auto after = feed.ask_page();
    if (!after) return false;
    EXPECT_FALSE(feed.ask_page());  // one at a time
    api_.fetch(*after, page_size_, [&feed](auto page) { feed.take_page(std::move(page)); });
    return alert_store_.answer();
  }

  static void append(std::vector<std::string>& out, std::string text) {
    if (text.find(R"("op":"hello")") != std::string::npos) return;
    if (text.starts_with(R"({"op":"alert","id":"id)")) {
      text = text.substr(22, text.find('"', 22) - 22);
    }
    out.push_back(std::move(text));
  }

  MemoryAlertStore alert_store_;
  AlertStoreClient api_ = alert_store_.api();
  AlertHub hub_{"e", 1, 0, {.alerts = 3}};
  NamedSubscribers names_{{{"pager", 2}}, api_.acknowledge, 64};
  std::size_t page_size_ = 2;
};

TEST_F(StreamFeedTest, WithoutAPlaceOnlyWhatIsNew) {
  publish(1, 3);
  auto feed = this->feed({});
  EXPECT_EQ(feed.next()->text(), R"({"op":"hello","epoch":"e","first_seq":1,"last_seq":3})");
  EXPECT_THAT(drain(feed), IsEmpty());
  publish(4, 5);
  EXPECT_THAT(drain(feed), ElementsAre("4", "5"));
}

TEST_F(StreamFeedTest, ResumesAfterAPlaceInTheWindow) {
  publish(1, 4);
  auto feed = this->feed({.after = 2, .epoch = "e"});
  EXPECT_FALSE(feed.was_live());
  EXPECT_THAT(drain(feed), ElementsAre("3", "4"));
  EXPECT_TRUE(feed.was_live());
  EXPECT_EQ(alert_store_.asked, 0U);
}

TEST_F(StreamFeedTest, ReadsPagesAndJoinsTheWindow) {
  publish(1, 10);
  auto feed = this->feed({.after = 0});
  EXPECT_EQ(feed.queued_bytes(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_THAT(drain(feed), ElementsAre("1", "2", "3", "4", "5", "6", "7", "8", "9", "10"));
  EXPECT_EQ(alert_store_.asked, 4U);  // 1-2, 3-4, 5-6, 7-8; the window is 8-10
  EXPECT_EQ(feed.queued_bytes(), 0U);
  publish(11, 11);
  EXPECT_THAT(drain(feed), ElementsAre("11"));
}

// The window moves on between the question and the answer, and while a page is read.
TEST_F(StreamFeedTest, TheWindowMayMoveMeanwhile) {
  publish(1, 6);
  auto feed = this->feed({.after = 1});
  ASSERT_TRUE(feed.next());  // hello
  std::vector<std::string> heard;
  for (std::uint64_t next = 7; next < 60; next += 3) {
    const auto frame = feed.next();
    if (frame) append(heard, frame->text());
    const auto after = frame ? std::nullopt : feed.ask_page();
    publish(next, next + 2);
    if (!after) continue;
    api_.fetch(*after, 2, [&feed](auto page) { feed.take_page(std::move(page)); });
    alert_store_.answer();
  }
  for (auto& text : drain(feed)) heard.push_back(text);
  std::vector<std::string> all;
  for (std::uint64_t seq = 2; seq <= alert_store_.last_seq; ++seq)
    all.push_back(std::to_string(seq));
  EXPECT_EQ(heard, all);
}

TEST_F(StreamFeedTest, SaysWhatTheStoreNoLongerHas) {
  publish(1, 9);
  prune(4);
  auto feed = this->feed({.after = 1});
  EXPECT_THAT(drain(feed),
              ElementsAre(R"({"op":"gap","from":2,"to":3})", "4", "5", "6", "7", "8", "9"));
}

// Nobody said so yet: the page begins later than asked, or is empty.
TEST_F(StreamFeedTest, APagePrunedMeanwhileIsAGap) {
  publish(1, 9);
  alert_store_.prune(5);
  auto feed = this->feed({.after = 1});
  EXPECT_THAT(drain(feed), ElementsAre(R"({"op":"gap","from":2,"to":4})", "5", "6", "7", "8", "9"));
  alert_store_.prune(10);
  feed.subscribe({.after = 1});
  EXPECT_THAT(drain(feed), ElementsAre(R"({"op":"gap","from":2,"to":6})", "7", "8", "9"));
}

// What was read already is delivered, also when the store drops it then.
TEST_F(StreamFeedTest, APageInHandIsNotLost) {
  publish(1, 9);
  auto feed = this->feed({.after = 0});
  ASSERT_TRUE(feed.next());   // hello
  ASSERT_FALSE(feed.next());  // waits
  ASSERT_TRUE(answer_page(feed));
  prune(6);
  EXPECT_THAT(drain(feed),
              ElementsAre("1", "2", R"({"op":"gap","from":3,"to":5})", "6", "7", "8", "9"));
}

TEST_F(StreamFeedTest, AFailingStoreIsAskedAgain) {
  publish(1, 6);
  auto feed = this->feed({.after = 1});
  alert_store_.fails = true;
  while (feed.next()) {
  }
  EXPECT_TRUE(answer_page(feed));
  EXPECT_FALSE(feed.next());
  EXPECT_FALSE(feed.was_live());
  alert_store_.fails = false;
  EXPECT_THAT(drain(feed), ElementsAre("2", "3", "4", "5", "6"));
}

TEST_F(StreamFeedTest, AnAnswerForAnotherPlaceIsNotUsed) {
  publish(1, 9);
  auto feed = this->feed({.after = 3});
  while (feed.next()) {
  }
  const auto after = feed.ask_page();
  ASSERT_EQ(after, 3U);
  feed.subscribe({.after = 1});
  EXPECT_FALSE(feed.next());
  EXPECT_FALSE(feed.ask_page());
  feed.take_page(make_alerts(4, 5));
  EXPECT_THAT(drain(feed), ElementsAre("2", "3", "4", "5", "6", "7", "8", "9"));
}

TEST_F(StreamFeedTest, ASlowClientTheWindowOvertakesMissesNothing) {
  publish(1, 2);
  auto feed = this->feed({.after = 0});
  ASSERT_TRUE(feed.next());  // hello
  ASSERT_TRUE(feed.next());  // alert 1
  publish(3, 9);
  EXPECT_THAT(drain(feed), ElementsAre("2", "3", "4", "5", "6", "7", "8", "9"));
}

TEST_F(StreamFeedTest, ResetsForAnotherEpochAndForTheFuture) {
  publish(1, 2);
  const std::string reset = R"({"op":"reset","epoch":"e"})";
  auto other = feed({.after = 1, .epoch = "old"});
  EXPECT_THAT(drain(other), ElementsAre(reset, "1", "2"));
  auto future = feed({.after = 7});
  EXPECT_THAT(drain(future), ElementsAre(reset, "1", "2"));
  auto no_place = feed({.epoch = "old"});
  EXPECT_THAT(drain(no_place), ElementsAre(reset, "1", "2"));
  auto named = feed({.epoch = "old", .name = "new"});
  EXPECT_THAT(drain(named), ElementsAre(reset, "1", "2"));
  EXPECT_THAT(alert_store_.acknowledged, ElementsAre(Pair("new", 0)));
}

TEST_F(StreamFeedTest, ALaterSubscriptionKeepsThePlaceUnlessItNamesOne) {
  auto feed = this->feed({});
  hub_.publish({make_alert(1, "a"), make_alert(2, "b"), make_alert(3, "a")});
  Subscription subscription;
  subscription.filter.rules = {"a"};
  feed.subscribe(subscription);
  EXPECT_THAT(drain(feed), ElementsAre("1", "3"));
  feed.subscribe({.after = 1});
  EXPECT_THAT(drain(feed), ElementsAre("2", "3"));
}

TEST_F(StreamFeedTest, FiltersPages) {
  alert_store_.store(
      {make_alert(1, "a"), make_alert(2, "b"), make_alert(3, "b"), make_alert(4, "a")});
  hub_.publish({make_alert(4, "a"), make_alert(5), make_alert(6), make_alert(7)});
  Subscription subscription{.after = 0};
  subscription.filter.rules = {"a"};
  auto feed = this->feed(subscription);
  EXPECT_THAT(drain(feed), ElementsAre("1", "4"));
}

TEST_F(StreamFeedTest, NewsOfTensorsAreLeftOutAndCountedLikeSteps) {
  const auto offer = [](StreamFeed& feed, const std::string& trial, std::uint64_t steps) {
    feed.offer_tensors(
        std::make_shared<const TensorNews>(TensorNews{R"({"trials":[)" + trial + "]}", steps}));
  };
  auto feed = this->feed({.tensors = true});
  EXPECT_TRUE(feed.wants_tensors());
  offer(feed, "1", 2);
  EXPECT_THAT(drain(feed), ElementsAre(R"({"op":"tensor","dropped":0,"trials":[1]})"));
  offer(feed, "2", 3);
  offer(feed, "3", 1);
  EXPECT_THAT(drain(feed), ElementsAre(R"({"op":"tensor","dropped":3,"trials":[3]})"));
  offer(feed, "4", 1);
  feed.subscribe({});  // no longer
  EXPECT_FALSE(feed.wants_tensors());
  offer(feed, "5", 1);
  EXPECT_THAT(drain(feed), IsEmpty());
}

TEST_F(StreamFeedTest, StepsWaitBehindAlertsAndOlderOnesAreLeftOutAndCounted) {
  const auto offer = [](StreamFeed& feed, const std::string& json, std::size_t steps,
                        std::uint64_t dropped) {
    Snapshot snapshot;
    snapshot.steps_json = json;
    snapshot.steps = steps;
    snapshot.steps_dropped = dropped;
    feed.offer_steps(std::make_shared<const Snapshot>(snapshot));
  };
  auto feed = this->feed({.steps = true});
  offer(feed, R"({"steps":[1,2]})", 2, 0);
  offer(feed, R"({"steps":[]})", 0, 0);  // says nothing new
  EXPECT_THAT(drain(feed), ElementsAre(R"({"op":"step","dropped":0,"steps":[1,2]})"));
  offer(feed, R"({"steps":[3,4]})", 2, 5);
  publish(1, 1);
  offer(feed, R"({"steps":[5]})", 1, 1);
  EXPECT_THAT(drain(feed), ElementsAre("1", R"({"op":"step","dropped":8,"steps":[5]})"));
  offer(feed, R"({"steps":[6]})", 1, 0);
  feed.subscribe({});  // no longer
  EXPECT_THAT(drain(feed), IsEmpty());
  offer(feed, R"({"steps":[7]})", 1, 0);
  feed.subscribe({.steps = true});
  EXPECT_THAT(drain(feed), IsEmpty());
}

TEST_F(StreamFeedTest, StatusComesAfterAlertsAndTheLatestWins) {
  auto feed = this->feed({.status = true});
  for (const char* status : {R"({"n":1})", R"({"n":2})"}) {
    Snapshot snapshot;
    snapshot.status_json = status;
    snapshot.runs_json = R"({"runs":[]})";
    feed.offer_status(std::make_shared<const Snapshot>(snapshot));
  }
  publish(1, 1);
  EXPECT_THAT(drain(feed), ElementsAre("1", R"({"op":"status","runs":[],"n":2})"));
}

TEST_F(StreamFeedTest, AKnownNameResumesAfterWhatItAcknowledged) {
  publish(1, 5);
  auto feed = this->feed({.name = "pager"});
  EXPECT_THAT(drain(feed), ElementsAre("3", "4", "5"));
  feed.subscribe({.name = "pager"});  // the same again: no repetition
  EXPECT_THAT(drain(feed), IsEmpty());
  auto chosen = this->feed({.after = 4, .name = "pager"});
  EXPECT_THAT(drain(chosen), ElementsAre("5"));
  EXPECT_EQ(names_.find("pager"), 2U);
}

TEST_F(StreamFeedTest, AnUnknownNameStartsLiveAndIsKept) {
  publish(1, 5);
  auto feed = this->feed({.name = "new"});
  EXPECT_THAT(alert_store_.acknowledged, ElementsAre(Pair("new", 5)));
  EXPECT_THAT(drain(feed), IsEmpty());
  publish(6, 8);
  auto second = this->feed({.name = "new"});
  EXPECT_THAT(drain(second), ElementsAre("6", "7", "8"));
  auto placed = this->feed({.after = 4, .name = "placed"});
  EXPECT_EQ(names_.find("placed"), 4U);
}

TEST_F(StreamFeedTest, AcksMoveForwardOnlyAndNeverAhead) {
  publish(1, 5);
  auto feed = this->feed({.name = "pager"});
  auto twin = this->feed({.name = "pager"});
  drain(feed);
  feed.acknowledge(4);
  twin.acknowledge(3);
  EXPECT_EQ(names_.find("pager"), 4U);
  feed.acknowledge(6);
  EXPECT_THAT(feed.next()->text(), HasSubstr("above last_seq"));
  EXPECT_EQ(names_.find("pager"), 4U);
  auto unnamed = this->feed({});
  unnamed.acknowledge(5);
  EXPECT_THAT(drain(unnamed), IsEmpty());
  EXPECT_EQ(names_.find("pager"), 4U);
}

TEST_F(StreamFeedTest, TooManyNamesInUseAreRefused) {
  for (int i = 0; i < 64; ++i) {
    EXPECT_TRUE(names_.attach("n" + std::to_string(i), 0));
  }
  auto feed = this->feed({.name = "one-more"});
  EXPECT_THAT(drain(feed), ElementsAre(HasSubstr("64 names are in use")));
  EXPECT_EQ(names_.refused(), 1U);
  EXPECT_EQ(names_.count(), 64U);
  publish(1, 1);
  EXPECT_THAT(drain(feed), ElementsAre("1"));
}

TEST_F(StreamFeedTest, ProvisionalAlertsPassFiltersAndAreBounded) {
  Subscription subscription;
  subscription.filter.rules = {"step_spike"};
  auto feed = this->feed(subscription);
  drain(feed);
  EXPECT_TRUE(feed.offer_provisional(make_alert(0, "other")));
  EXPECT_TRUE(feed.offer_provisional(make_provisional("p")));
  EXPECT_THAT(drain(feed),
              ElementsAre(R"({"op":"alert","provisional":true,"id":"p","rule":"step_spike"})"));
  int kept = 0;
  for (int i = 0; i < 300; ++i) kept += feed.offer_provisional(make_provisional("p")) ? 1 : 0;
  EXPECT_EQ(kept, 256);
  EXPECT_THAT(drain(feed), SizeIs(256));
}

}  // namespace trainwatch::stream_feed_test
