// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/drain.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace trainwatch::drain_test {

using std::chrono::seconds;

// Stages that end when the test says so, and a record of what was called.
struct Fixture {
  Drain::Stages stages() {
    Drain::Stages stages;
    stages.read = [this](Drain::Done done) {
      calls += "read ";
      if (reads) done();
    };
    stages.judge = [this](Drain::Done done) {
      calls += "judge ";
      done();
    };
    stages.file_call = [this] { return file_call; };
    stages.delivered = [this] { return --undelivered < 0; };
    stages.finished = [this](Drain::Outcome result) { outcome = result; };
    return stages;
  }

  boost::asio::io_context net{1};
  bool reads = true;
  std::chrono::steady_clock::duration file_call{};
  int undelivered = 0;
  std::string calls;
  std::optional<Drain::Outcome> outcome;
};

TEST(Drain, ReadsThenJudgesThenDelivers) {
  Fixture fixture;
  fixture.undelivered = 3;
  Drain drain(fixture.net, fixture.stages());
  EXPECT_FALSE(drain.begun());
  drain.begin(seconds(100));
  EXPECT_TRUE(drain.begun());
  fixture.net.run();
  EXPECT_EQ(fixture.calls, "read judge ");
  EXPECT_EQ(fixture.outcome, Drain::Outcome::complete);
  EXPECT_LT(fixture.undelivered, 0);
}

TEST(Drain, AFileCallThatHangsEndsIt) {
  Fixture fixture;
  fixture.reads = false;
  fixture.file_call = seconds(2);
  Drain drain(fixture.net, fixture.stages());
  drain.begin(seconds(100));
  fixture.net.run();
  EXPECT_EQ(fixture.calls, "read ");
  EXPECT_EQ(fixture.outcome, Drain::Outcome::hangs);
}

TEST(Drain, TheTimeoutEndsReadingAndDelivery) {
  Fixture fixture;
  fixture.reads = false;
  Drain drain(fixture.net, fixture.stages());
  drain.begin(std::chrono::milliseconds(1));
  fixture.net.run();
  EXPECT_EQ(fixture.outcome, Drain::Outcome::too_long);

  Fixture slow_client;
  slow_client.undelivered = 1'000'000;
  Drain delivery(slow_client.net, slow_client.stages());
  delivery.begin(std::chrono::milliseconds(50));
  slow_client.net.run();
  EXPECT_EQ(slow_client.outcome, Drain::Outcome::complete);
}

TEST(Drain, CallsNothingOnceStopped) {
  Fixture fixture;
  Drain drain(fixture.net, fixture.stages());
  drain.begin(seconds(100));
  drain.stop();
  fixture.net.run();
  EXPECT_EQ(fixture.calls, "read ");
  EXPECT_FALSE(fixture.outcome);
}

}  // namespace trainwatch::drain_test
