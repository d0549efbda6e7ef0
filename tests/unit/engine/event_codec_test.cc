// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/event_codec.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "pipeline/timestamps/event_time.h"

namespace trainwatch::event_codec_test {

// As the state has it.
std::string bytes_of(Event event) {
  StateIo io = StateIo::saving();
  event_state(io, event);
  return io.take();
}

Span span_of(std::mt19937& random, std::uint32_t different) {
  const auto below = [&random](std::uint32_t limit) {
    return static_cast<std::uint32_t>(random()) % limit;
  };
  Span span;
  span.start = Time{Nanos{random()}};
  span.duration = Nanos{random()};
  span.step = below(1000);
  span.subject = SubjectId{below(different)};
  span.name = Symbol{below(different)};
  span.worker = static_cast<std::int32_t>(below(2));
  span.process = below(2);
  span.thread = below(2);
  span.kind = below(2) == 0 ? SpanKind::step : SpanKind::data_wait;
  span.mode = below(2) == 0 ? Mode::train : Mode::unknown;
  span.origin = below(20) == 0 ? Origin::profiler : Origin::timeline;
  span.layer = Symbol{below(2)};
  return span;
}

class EventCodecTest : public testing::Test {
 protected:
  // Writes many events, of which few or all are alike, as one row.
  std::string row(std::uint32_t different) {
    std::mt19937 random(18 + different);
    StateIo io = StateIo::saving();
    written_.clear();
    codec_.begin_row();
    for (int i = 0; i < 3000; ++i) {
      if (random() % 4 == 0) {
        Sample sample;
        sample.at = Time{Nanos{random()}};
        sample.value = static_cast<double>(random());
        codec_.write(io, sample);
        written_.push_back(bytes_of(sample));
      } else {
        const Span span = span_of(random, different);
        codec_.write(io, span);
        written_.push_back(bytes_of(span));
      }
    }
    return io.take();
  }

  EventCodec codec_;
  std::vector<std::string> written_;
};

TEST_F(EventCodecTest, WhatIsReadIsWhatWasWritten) {
  for (const std::uint32_t different : {1, 3, 40, 100'000}) {
    const std::string bytes = row(different);
    StateIo io = StateIo::loading(bytes);
    EventCodec other;
    other.begin_row();
    for (const std::string& event : written_) {
      const auto read = other.read(io);
      ASSERT_TRUE(read);
      ASSERT_EQ(bytes_of(*read), event);
    }
    EXPECT_TRUE(io.complete());
  }
}

TEST_F(EventCodecTest, WhatSpansHaveInCommonIsWrittenOnce) {
  std::mt19937 random(18);
  Span span = span_of(random, 1);
  StateIo io = StateIo::saving();
  codec_.begin_row();
  codec_.write(io, span);
  const std::size_t first = io.saved().size();
  for (int i = 0; i < 100; ++i) {
    span.step = i;
    codec_.write(io, span);
  }
  EXPECT_EQ(io.saved().size(), first + 2600);
}

TEST_F(EventCodecTest, DamageIsNoticedOrReadAsOtherEvents) {
  const std::string bytes = row(3);
  std::mt19937 random(18);
  for (int i = 0; i < 2000; ++i) {
    std::string damaged = bytes;
    damaged[random() % damaged.size()] = static_cast<char>(random());
    if (random() % 4 == 0) damaged.resize(random() % damaged.size());
    StateIo io = StateIo::loading(damaged);
    codec_.begin_row();
    std::size_t events = 0;
    while (io.ok() && events++ < written_.size()) codec_.read(io);
    EXPECT_TRUE(io.complete() || !io.ok() || damaged.size() == bytes.size());
  }
}

TEST_F(EventCodecTest, AKnownSpanIsOfTheSameRow) {
  std::mt19937 random(18);
  const Span span = span_of(random, 1);
  StateIo io = StateIo::saving();
  codec_.begin_row();
  codec_.write(io, span);
  const std::size_t first = io.saved().size();
  codec_.write(io, span);
  const std::string second(io.saved().substr(first));
  StateIo alone = StateIo::loading(second);
  codec_.begin_row();
  EXPECT_FALSE(codec_.read(alone));
  EXPECT_FALSE(alone.ok());
}

}  // namespace trainwatch::event_codec_test
