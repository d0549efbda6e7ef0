// SPDX-License-Identifier: Apache-2.0
// What a reader remembers of earlier records changes nothing: each record gives what it gives to a
// new reader.
#include "pipeline/decode/trace_event.h"

#include <gtest/gtest.h>

#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace trainwatch::testing::trace_event_test {

using Tokens = std::vector<std::string_view>;

Tokens tokens_of(const TraceEvent& event) {
  return {event.phase,      event.name,         event.ts,
          event.dur,        event.pid,          event.tid,
          event.category,   event.args_name,    event.args_layer_name,
          event.args_pid,   event.args_tid,     event.thread_id,
          event.step_num,   event.worker_id,    event.num_workers,
          event.pin_memory, event.start_time_us};
}

// Fails unless `reader` reads the record as a new one does. True: the record is good.
bool reads_alike(TraceEventReader& reader, const std::string& record) {
  TraceEvent event;
  TraceEvent expected;
  const bool good = TraceEventReader{}.read(record, expected);
  EXPECT_EQ(reader.read(record, event), good) << record;
  if (good) {
    EXPECT_EQ(tokens_of(event), tokens_of(expected)) << record;
  }
  return good;
}

const std::string kSpan =
    R"({"name": "net", "pid": 3, "ph": "X", "ts": 59937814, "dur": 157, "args": {"pid": 4, "step_num": "518"}})";

std::string with(const std::string& from, const std::string& to) {
  std::string record = kSpan;
  return record.replace(record.find(from), from.size(), to);
}

TEST(TraceEventReader, ReadsARecordOfAKnownLayout) {
  TraceEventReader reader;
  TraceEvent first;
  ASSERT_TRUE(reader.read(kSpan, first));
  TraceEvent event;
  const std::string other = with("59937814", "-1.5e3");
  ASSERT_TRUE(reader.read(other, event));
  EXPECT_EQ(event.name, "\"net\"");
  EXPECT_EQ(event.ts, "-1.5e3");
  EXPECT_EQ(event.pid, "3");
  EXPECT_EQ(event.args_pid, "4");
  EXPECT_EQ(event.step_num, "\"518\"");
  EXPECT_EQ(event.type(), 'X');
}

TEST(TraceEventReader, KnownLayoutWithOtherValues) {
  const std::vector<std::string> records = {
      kSpan,
      with("\"net\"", R"("a \" b\\")"),            // escapes
      with("\"net\"", R"("a\": 1, \"pid\": 7")"),  // what looks like a part inside a string
      with("\"net\"", "\"net"),                    // a quote is missing
      with("157", ""),                             // a missing value
      with("157", " 157"),                         // one space more
      with("157",
           "\x01"
           "157"),
      with("157", "N/A"),
      with("157", "123456789012345678901234567890"),
      with("157", R"({"a": 1})"),
      with("157", "[1, {}]"),
      with("\"518\"", R"({"step_num": 9})"),
      with(R"({"pid": 4, "step_num": "518"})", "7"),
      with(R"({"pid": 4, "step_num": "518"})", "{}"),
      with(R"("518"}})", R"("518")"),  // torn
      with(R"("518"}})", R"("518"}} trailing)"),
      with(R"("518"}})", R"("518"},})"),
      with(R"("518"}})", R"("518"}, "name": "later"})"),
      with("\"dur\"", "\"dUr\""),
      with(", \"ph\"", "x, \"ph\""),
  };
  TraceEventReader reader;
  for (int round = 0; round < 3; ++round) {
    for (const std::string& record : records) reads_alike(reader, record);
    for (std::size_t size = 0; size <= kSpan.size(); ++size) {
      reads_alike(reader, kSpan.substr(0, size));
    }
  }
}

// A record of random members, spelt in one of a few ways, so that layouts come back.
class RandomRecords {
 public:
  std::string next() {
    std::string record = object(kKeys, true);
    if (chance(30)) record.resize(random_() % (record.size() + 1));
    if (!record.empty() && chance(30))
      record[random_() % record.size()] = "\"{}[],: \\a1"[random_() % 11];
    return record;
  }

 private:
  static constexpr const char* kKeys[] = {"name", "ph", "ts", "dur", "pid", "tid", "cat", "other"};
  static constexpr const char* kArguments[] = {"step_num", "pid", "name", "worker_id", "args", "x"};
  static constexpr const char* kValues[] = {
      "\"X\"", "\"a b\"", "\"q\\\"\"", "\"\"",          "12345678901",    "1.5", "-7", "", "N/A",
      "true",  "[1]",     "{}",        R"({"pid": 1})", "\"unterminated", " 3"};

  bool chance(unsigned one_in) { return random_() % one_in == 0; }

  template <std::size_t n>
  std::string object(const char* const (&keys)[n], bool root) {
    const std::string colon = chance(8) ? ":" : ": ";
    std::string text = "{";
    const std::size_t members = random_() % 5;
    for (std::size_t i = 0; i < members; ++i) {
      if (i > 0) text += chance(20) ? "," : ", ";
      text += '"' + std::string{keys[chance(3) ? random_() % n : i % n]} + '"' + colon;
      text += kValues[chance(4) ? random_() % std::size(kValues) : i % 6];
    }
    if (root && !chance(3)) {
      text += members > 0 ? ", " : "";
      text += "\"args\"" + colon + (chance(9) ? std::string{"5"} : object(kArguments, false));
    }
    return text + (chance(20) ? ",}" : "}");
  }

  std::mt19937 random_{20261122};
};

TEST(TraceEventReader, RandomRecordsReadAlike) {
  RandomRecords records;
  int good = 0;
  for (int file = 0; file < 200; ++file) {
    TraceEventReader reader;
    for (int i = 0; i < 300; ++i) good += reads_alike(reader, records.next()) ? 1 : 0;
    if (HasFailure()) return;
  }
  EXPECT_GT(good, 30'000);
  EXPECT_LT(good, 59'000);
}

TEST(TraceEventReader, MoreLayoutsThanItRemembers) {
  TraceEventReader reader;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 300; ++i) {
      EXPECT_TRUE(reads_alike(
          reader, with("\"dur\"", "\"" + std::string(static_cast<std::size_t>(i), 'k') + "\"")));
    }
    EXPECT_TRUE(reads_alike(reader, kSpan));
  }
}

}  // namespace trainwatch::testing::trace_event_test
