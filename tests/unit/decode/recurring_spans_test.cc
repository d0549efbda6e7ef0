// SPDX-License-Identifier: Apache-2.0
// A record that is recognised gives what it gives when it is read by its keys.
#include "pipeline/decode/recurring_spans.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <variant>
#include <vector>

#include "decode_harness.h"

namespace trainwatch::testing::recurring_spans_test {

std::string span(const std::string& name, const std::string& start, const std::string& duration,
                 const std::string& step) {
  return R"({"name": ")" + name + R"(", "pid": 2, "ph": "X", "ts": )" + start + R"(, "dur": )" +
         duration + R"(, "args": {"pid": 900, "step_num": ")" + step + R"("}})";
}

Span learn(RecurringSpans& spans, const std::string& record, Symbol name) {
  TraceEvent event;
  EXPECT_TRUE(TraceEventReader{}.read(record, event));
  Span learned;
  learned.name = name;
  learned.process = 900;
  spans.learn(record, event, learned);
  return learned;
}

TEST(RecurringSpans, OnlyTimesAndStepsMayDiffer) {
  RecurringSpans spans;
  RecurringSpans::Times times;
  EXPECT_EQ(spans.read(span("Forward", "1", "2", "3"), times), nullptr);
  learn(spans, span("Forward", "1", "2", "3"), Symbol{7});
  learn(spans, span("Backward", "1", "2", "3"), Symbol{8});
  for (const std::string step : {"4", "1234567890123456"}) {
    const Span* const forward = spans.read(span("Forward", "1700000000000001", "0", step), times);
    ASSERT_NE(forward, nullptr);
    EXPECT_EQ(forward->name, Symbol{7});
    EXPECT_EQ(forward->process, 900);
    EXPECT_EQ(forward->step, std::stoll(step));
    EXPECT_EQ(times.start_ns, 1'700'000'000'000'001'000);
    EXPECT_EQ(times.duration_ns, 0);
    const Span* const backward = spans.read(span("Backward", "5", "12345678", step), times);
    ASSERT_NE(backward, nullptr);
    EXPECT_EQ(backward->name, Symbol{8});
    EXPECT_EQ(times.duration_ns, 12'345'678'000);
  }
  EXPECT_EQ(spans.read(span("Forwart", "1", "2", "3"), times), nullptr);
  EXPECT_EQ(spans.read(span("Forward", "1", "2", "3") + " ", times), nullptr);
  spans.clear();
  EXPECT_EQ(spans.read(span("Forward", "1", "2", "3"), times), nullptr);
}

TEST(RecurringSpans, UnusualNumbersAreReadByKey) {
  RecurringSpans spans;
  RecurringSpans::Times times;
  learn(spans, span("Forward", "1", "2", "3"), Symbol{7});
  for (const std::string number : {"", "-1", "01", "1.5", "1e3", " 1", "12345678901234567", "x"}) {
    EXPECT_EQ(spans.read(span("Forward", number, "2", "3"), times), nullptr) << number;
    EXPECT_EQ(spans.read(span("Forward", "1", number, "3"), times), nullptr) << number;
    EXPECT_EQ(spans.read(span("Forward", "1", "2", number), times), nullptr) << number;
  }
  // Nanoseconds that do not fit saturate where they are read by key.
  EXPECT_EQ(spans.read(span("Forward", "9999999999999999", "2", "3"), times), nullptr);
  const std::string record = span("Forward", "1", "2", "3");
  for (std::size_t size = 0; size < record.size(); ++size) {
    EXPECT_EQ(spans.read(record.substr(0, size), times), nullptr) << size;
  }
}

// The table counts how often that happens.
TEST(RecurringSpans, WhatHadNoRoomForItsNameIsNotLearned) {
  RecurringSpans spans;
  RecurringSpans::Times times;
  learn(spans, span("Forward", "1", "2", "3"), Symbol::other);
  EXPECT_EQ(spans.read(span("Forward", "1", "2", "3"), times), nullptr);
}

// A job writes the same spans in each step, but for some.
TEST(RecurringSpans, AStepIsRecognisedOnceItsOrderIsKnown) {
  RecurringSpans spans;
  RecurringSpans::Times times;
  int read_by_key = 0;
  for (int step = 0; step < 20; ++step) {
    for (int layer = 0; layer < 60; ++layer) {
      if (layer == 30 && step % 3 == 0) continue;
      const std::string name = "layer_" + std::to_string(layer % 50);  // some come twice
      const std::string record = span(name, std::to_string(step * 1000 + layer), "5", "9");
      if (spans.read(record, times) != nullptr) continue;
      ++read_by_key;
      learn(spans, record, Symbol{100});
    }
  }
  EXPECT_LT(read_by_key, 70);
}

// A timeline with unusual numbers, names of phases that change, and damage. Most spans come in the
// order of the step before.
class Timeline {
 public:
  explicit Timeline(unsigned seed) : random_(seed) {
    for (int i = 0; i < 12; ++i) step_.push_back(any_kind());
  }

  std::string make(int records) {
    std::string text = "[\n{}";
    for (int i = 0; i < records; ++i) {
      const Kind kind = random_() % 10 == 0 ? any_kind() : step_[i % step_.size()];
      std::string record = random_() % 200 == 0 ? metadata(kind) : one(kind);
      if (random_() % 100 == 0) damage(record);
      text += ",\n" + record;
    }
    return text + "\n]";
  }

 private:
  struct Kind {
    std::string name;
    std::string pid;
    int writer = 0;
  };

  template <std::size_t kSize>
  std::string any(const char* const (&of)[kSize]) {
    return of[random_() % kSize];
  }
  Kind any_kind() {
    static const char* const kNames[] = {"Forward", "Backward", "Optimizer",
                                         "DataLoaderIter::GetNext", "Step:ModeKeys.TRAIN"};
    return {any(kNames), std::to_string(random_() % 3), static_cast<int>(random_() % 5)};
  }
  std::string number() {
    static const char* const kUnusual[] = {"0",   "-5", "007", "1.25", "2e3", "9999999999999999",
                                           "N/A", "",   "1 ",  "\"8\""};
    if (random_() % 50 == 0) return any(kUnusual);
    const int bits = static_cast<int>(random_() % 50);
    return std::to_string(random_() >> (63 - bits));
  }
  static std::string metadata(const Kind& kind) {
    return R"({"name": "process_name", "ph": "M", "pid": )" + kind.pid + R"(, "args": {"name": ")" +
           kind.name + "\"}}";
  }
  std::string one(const Kind& kind) {
    const auto& [name, pid, writer] = kind;
    switch (writer) {
      case 0:
        return R"({"ph": "X", "ts": )" + number() + R"(, "dur": )" + number() + R"(, "name": ")" +
               name + R"(", "pid": )" + pid + R"(, "args": {"worker_id": "1", )" +
               R"("num_workers": "4", "pin_memory": "True"}})";
      case 1:
        return R"({"name": ")" + name + R"(", "pid": )" + pid + R"(, "ph": "B", "ts": )" +
               number() + "}";
      case 2:
        return R"({"pid": )" + pid + R"(, "ph": "E", "ts": )" + number() + "}";
      case 3:
        return R"({"name": ")" + name + R"(", "args": {"step_num": ")" + number() +
               R"(", "layer_name": "fc1"}, "tid": 5, "pid": )" + pid + R"(, "ph": "X", "dur": )" +
               number() + R"(, "ts": )" + number() + "}";
      default:
        return R"({"name": ")" + name + R"(", "pid": )" + pid + R"(, "ph": "X", "ts": )" +
               number() + R"(, "dur": )" + number() + R"(, "args": {"pid": 900, "step_num": )" +
               number() + R"(}})";
    }
  }
  void damage(std::string& record) {
    static const char* const kBytes[] = {"\"", "}", "{", ",", "1", "\\", " ", "x"};
    record.replace(random_() % record.size(), random_() % 2, any(kBytes));
  }

  std::mt19937_64 random_;
  std::vector<Kind> step_;
};

bool same(const Span& a, const Span& b) {
  return a.start == b.start && a.duration == b.duration && a.step == b.step &&
         a.subject == b.subject && a.name == b.name && a.phase == b.phase && a.worker == b.worker &&
         a.process == b.process && a.thread == b.thread && a.kind == b.kind && a.mode == b.mode &&
         a.origin == b.origin && a.pin_memory == b.pin_memory && a.num_workers == b.num_workers &&
         a.layer == b.layer;
}

TEST(RecurringSpans, ALargePieceGivesWhatSmallOnesGive) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const std::string text = Timeline{seed}.make(2000);
    ASSERT_GT(text.size(), 2 * RecurringSpans::kLeastBytes);
    DecodeRun whole{"framework/1-host_pythontimeline.json"};
    whole.feed(text);
    DecodeRun pieces{"framework/1-host_pythontimeline.json"};
    constexpr std::size_t kSmall = RecurringSpans::kLeastBytes / 2;
    for (std::size_t at = 0; at < text.size(); at += kSmall) pieces.feed(text.substr(at, kSmall));
    ASSERT_EQ(whole.finish(), pieces.finish()) << seed;
    ASSERT_EQ(whole.raw_events().size(), pieces.raw_events().size());
    EXPECT_GT(whole.raw_events().size(), 500U);
    for (std::size_t i = 0; i < whole.raw_events().size(); ++i) {
      const auto* const one = std::get_if<Span>(&whole.raw_events()[i]);
      const auto* const other = std::get_if<Span>(&pieces.raw_events()[i]);
      ASSERT_EQ(one == nullptr, other == nullptr);
      ASSERT_TRUE(one == nullptr || same(*one, *other)) << whole.events()[i];
    }
  }
}

}  // namespace trainwatch::testing::recurring_spans_test
