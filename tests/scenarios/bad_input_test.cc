// SPDX-License-Identifier: Apache-2.0
// Bad input of every kind costs a counter and a line in the status, never a crash, never a silent
// stop, and nothing else: the good file beside it is read in full.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temp_directory.h"
#include "support/watcher.h"

namespace trainwatch::bad_input_test {

using test::TempDirectory;
using test::Watcher;
using testing::HasSubstr;

std::string sample(double second, const std::string& value = "50") {
  return R"({"Type":"cpu","Name":"cpu0","Dimension":"CPUUtilization","Value":)" + value +
         R"(,"NodeId":"algo-1","Timestamp":)" + std::to_string(1700000000 + second) + "}\n";
}
std::string step(int number) {
  return R"({"name": "Step:ModeKeys.TRAIN", "pid": 1, "ph": "X", "ts": )" +
         std::to_string(number * 1000) + R"(, "dur": 900, "args": {"step_num": ")" +
         std::to_string(number) + "\"}}";
}
const std::string kTimelineHead =
    R"([
{"name": "process_name", "ph": "M", "pid": 0, "args": {"start_time_since_epoch_in_micros": 1700000000000000}},
{"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "Step:ModeKeys.TRAIN"}},
)";

struct BadFile {
  const char* name;
  std::string path;
  std::string content;
  std::uint64_t records;  // good ones in it
  std::map<RejectReason, std::uint64_t> rejects;
};

std::vector<BadFile> bad_files() {
  using enum RejectReason;
  const std::string system = "system/incremental/2023111422/1700000000.algo-1.json";
  const std::string timeline = "framework/0-algo-1_pythontimeline.json.tmp";
  return {
      {"LineCutOffAtTheEnd", system, sample(1) + sample(2).substr(0, 40), 1, {{syntax, 1}}},
      {"LineCutOffInTheMiddle",
       system,
       sample(1) + sample(2).substr(0, 40) + "\n" + sample(3),
       2,
       {{syntax, 1}}},
      {"NotANumber", system, sample(1) + sample(2, "NaN") + sample(3), 3, {}},
      {"WrongType", system, sample(1) + sample(2, "\"high\"") + sample(3), 2, {{type, 1}}},
      {"MissingField", system, sample(1) + "{\"Type\":\"cpu\"}\n" + sample(3), 2, {{type, 1}}},
      {"LongLine",
       system,
       sample(1) + R"({"Type":")" + std::string(3U << 20U, 'x') + "\"}\n" + sample(3),
       2,
       {{too_long, 1}}},
      {"NoTime",
       system,
       sample(1) + R"({"Type":"cpu","Name":"cpu0","Dimension":"CPUUtilization","Value":1,)" +
           R"("NodeId":"algo-1","Timestamp":"soon"})" + "\n" + sample(3),
       2,
       {{time, 1}}},
      {"ArrayNotClosed", timeline, kTimelineHead + step(1) + ",\n" + step(2) + ",\n", 4, {}},
      {"EventCutOff",
       timeline,
       kTimelineHead + step(1) + ",\n" + step(2).substr(0, 30),
       3,
       {{syntax, 1}}},
      {"UnknownFormat", "notes.json", "Dear diary,\ntoday it crashed.\n", 0, {}},
      {"Binary",
       "blob.pt.trace.json",
       std::string("\x7f"
                   "ELF\x02\x01\x01\0\0\0",
                   10),
       0,
       {{unknown_format, 1}}},
      {"DamagedGzip",
       "worker0.1700000000000.pt.trace.json.gz",
       std::string("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03garbage garbage garbage", 33),
       0,
       {{gzip, 1}}},
      {"Empty", "empty.json", "", 0, {}},
  };
}

class BadInput : public testing::TestWithParam<std::size_t> {};

TEST_P(BadInput, IsCountedAndHarmsNothingElse) {
  const BadFile bad = bad_files()[GetParam()];
  TempDirectory dir;
  dir.append(bad.path, bad.content);
  dir.append("system/incremental/2023111422/1700000060.algo-2.json", sample(61) + sample(62));

  Watcher watcher(dir.path());
  watcher.finish();
  const Ingest::Source& source = watcher.ingest().sources().begin()->second;
  EXPECT_EQ(source.records, bad.records + 2);
  for (std::size_t i = 0; i < source.rejects.size(); ++i) {
    const auto reason = static_cast<RejectReason>(i);
    const auto wanted = bad.rejects.find(reason);
    EXPECT_EQ(source.rejects[i], wanted == bad.rejects.end() ? 0U : wanted->second)
        << to_string(reason);
  }
  for (const auto& [reason, count] : bad.rejects) {
    EXPECT_THAT(watcher.status(),
                HasSubstr("\"" + std::string(to_string(reason)) + "\":" + std::to_string(count)));
    EXPECT_THAT(watcher.status(), HasSubstr("\"reason\":\"" + std::string(to_string(reason))));
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, BadInput, testing::Range<std::size_t>(0, bad_files().size()),
                         [](const auto& file) { return bad_files()[file.param].name; });

}  // namespace trainwatch::bad_input_test
