// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/engine_inbox.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <string>
#include <vector>

#include "tests/support/recording_sink.h"

namespace trainwatch::engine_inbox_test {

struct Fixture {
  void open(FileId id, const std::string& path) {
    KnownFile file;
    file.file = id;
    file.path = path;
    inbox.opened(file, "lane", {});
  }
  void append(FileId id) { inbox.data(id, {"a step\n", {}, read}); }

  boost::asio::io_context engine{1};
  test::RecordingSink sink;
  EngineInbox inbox{
      engine,
      {[this](FileId file, const AppendedBytes& appended) { sink.data(file, appended); },
       [this](const EngineInbox::Message& message) { message(sink); }}};
  Fingerprint read;
};

constexpr FileId kFirst{1};
constexpr FileId kSecond{2};

TEST(EngineInboxTest, PassesCallsOnInTheirOrder) {
  Fixture test;
  test.open(kFirst, "first");
  test.append(kFirst);
  test.inbox.finished(kFirst);
  test.engine.run();
  EXPECT_EQ(test.sink.take_calls(),
            (std::vector<std::string>{"opened first", "data first", "finished first"}));
}

// What is read later would otherwise be taken for what follows: of a file that was never opened,
// or with a gap.
TEST(EngineInboxTest, WhatComesAfterTheCloseIsDropped) {
  Fixture test;
  test.open(kFirst, "first");
  test.inbox.close();
  test.append(kFirst);
  test.open(kSecond, "second");
  test.append(kSecond);
  test.engine.run();
  EXPECT_EQ(test.sink.take_calls(), std::vector<std::string>{"opened first"});
}

// None of the chunks before it are done with.
TEST(EngineInboxTest, NobodyWaitsForAClosedOne) {
  Fixture test;
  test.open(kFirst, "first");
  for (int n = 0; n < 16; ++n) test.append(kFirst);
  test.inbox.close();
  test.append(kFirst);
  test.engine.run();
  EXPECT_EQ(test.sink.total, 16 * std::string("a step\n").size());
}

}  // namespace trainwatch::engine_inbox_test
