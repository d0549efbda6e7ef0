// SPDX-License-Identifier: Apache-2.0
// Every lost record is counted: for random damage of any file of any format, the bytes of records
// that were read, of records that were rejected, those skipped and those between records are the
// whole file; and what lies beyond the damage is read.
//
// Resynchronisation costs at most one whole record behind the damaged one. TRAINWATCH_DAMAGES=N
// sets how many files are damaged.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <set>

#include "decode_harness.h"
#include "pipeline/decode/gzip_stream.h"

namespace trainwatch::testing::damage_test {

// A good file, and where its records are. Record i shows itself as the event that names[i] is in.
struct GoodFile {
  std::string name;
  std::string path;
  std::string content;
  struct Record {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::string shown;
  };
  std::vector<Record> records{};
  bool object_root = false;  // nothing behind its '}' belongs to it
  // Where no line shows a record, or none is read to its end, a bracket or a quote that is missing
  // may make one swallow so many bytes of those behind it.
  std::size_t swallowed = 0;

  void add(const std::string& text, const std::string& shown) {
    records.push_back({content.size(), content.size() + text.size(), shown});
    content += text;
  }
};

constexpr int kRecords = 40;

GoodFile system_metrics() {
  GoodFile file{"metrics", "/w/system/incremental/2020060305/1591160699.algo-1.json", ""};
  for (int i = 0; i < kRecords; ++i) {
    const std::string second = std::to_string(1591160700 + i);
    file.add(R"({"Type":"cpu","Name":"cpu)" + std::to_string(i % 4) +
                 R"(","Dimension":"CPUUtilization","Value":4.5,"NodeId":"algo-1","Timestamp":)" +
                 second + ".25}",
             "sample " + second + "250000000 ");
    file.content += "\n";
  }
  return file;
}

std::string span_of(int i, const std::string& arguments) {
  return R"({"name": "e)" + std::to_string(i) + R"(", "pid": 1, "ph": "X", "ts": )" +
         std::to_string(5000 + i * 10) + R"(, "dur": 5, "args": )" + arguments + "}";
}

GoodFile timeline(const std::string& name, const std::string& separator) {
  GoodFile file{name,
                "/w/framework/pevents/2026112104/1795236016087300_0-algo-1_pythontimeline.json",
                "[" + separator.substr(1)};
  file.swallowed = separator == ", " ? 2048 : 0;
  file.content +=
      R"({"name": "process_name", "ph": "M", "pid": 0, "args": {"start_time_since_epoch_in_micros": 1795236015981368}})" +
      separator + R"({"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "Forward"}})";
  for (int i = 0; i < kRecords; ++i) {
    file.content += separator;
    file.add(span_of(i, R"({"step_num": "7", "list": [1, {"a": "}"}], "pid": 3})"),
             "'e" + std::to_string(i) + "'");
  }
  file.content += separator.substr(1) + "]";
  return file;
}

GoodFile horovod() {
  GoodFile file{"horovod", "/w/framework/pevents/2026112104/1_0-algo-1_horovod_timeline.json",
                "[\n"};
  for (int i = 0; i < kRecords; ++i) {
    const std::string ts = std::to_string(1000 + i * 10);
    const std::string end = std::to_string(1005 + i * 10);
    file.add(R"({"ph": "B", "name": "e)" + std::to_string(i) + R"(", "ts": )" + ts +
                 R"(, "pid": 1})" + ",\n" + R"({"ph": "E", "ts": )" + end + R"(, "pid": 1})",
             "'e" + std::to_string(i) + "'");
    file.content += ",\n";
  }
  return file;
}

GoodFile tensorflow() {
  GoodFile file{"tensorflow", "/w/a/plugins/profile/d/host-1.local.trace.json", ""};
  file.object_root = true;
  file.swallowed = 2048;
  file.content =
      R"({"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":[{"ph":"M","pid":49,"name":"process_name","args":{"name":"/host:CPU"}})";
  for (int i = 0; i < kRecords; ++i) {
    file.content += ",";
    file.add(R"({"pid":49,"tid":1,"ts":)" + std::to_string(100 + i * 10) + R"(.457,"name":"e)" +
                 std::to_string(i) + R"(","ph":"X","dur":5.222,"args":{"tracing_count":"2"}})",
             "'e" + std::to_string(i) + "'");
  }
  file.content += ",{}]}";
  return file;
}

std::string step_event(int i, const std::string& line) {
  return "{" + line + R"("ph": "X", "cat": "user_annotation", "name": "ProfilerStep#)" +
         std::to_string(i) + R"(", "pid": 9, "tid": 9,)" + line + R"("ts": )" +
         std::to_string(4458676416800000 + i * 2000) + ".001, \"dur\": 1000.25," + line +
         R"("args": { "External id": 1, "bw": N/A, "list": [1, {"a": "}"}], })" + line + "}";
}

GoodFile kineto(const std::string& name, const std::string& line) {
  GoodFile file{name, "/w/vm_10.1787426466048337924.pt.trace.json", ""};
  file.object_root = true;
  file.swallowed = 2048;
  file.content = "{" + line + R"("schemaVersion": 1,)" + line + R"("deviceProperties": [)" + line +
                 R"({"id": 0, "name": "A \"fast\" GPU"})" + line + "]," + line +
                 R"("traceEvents": [)" + line;
  for (int i = 0; i < kRecords; ++i) {
    if (i > 0) file.content += "," + line;
    file.add(step_event(i, line), "'ProfilerStep#" + std::to_string(i) + "'");
  }
  file.content += line + "]," + line + R"("distributedInfo": {"backend": "nccl", "rank": 5},)" +
                  line + R"("baseTimeNanoseconds": 1782967788000000000)" + line + "}";
  return file;
}

GoodFile torch_array() {
  GoodFile file{"array trace", "/w/vm_8959.1795235697709.pt.trace.json", "["};
  file.swallowed = 2048;
  for (int i = 0; i < kRecords; ++i) {
    if (i > 0) file.content += ", ";
    file.add(R"({"name": "ProfilerStep#)" + std::to_string(i) + R"(", "ph": "X", "ts": )" +
                 std::to_string(167 + i * 10) +
                 R"(, "dur": 5, "tid": 1, "pid": "CPU functions", "args": {}})",
             "'ProfilerStep#" + std::to_string(i) + "'");
  }
  file.content += "]";
  return file;
}

std::vector<GoodFile> good_files() {
  return {system_metrics(),
          timeline("timeline", ",\n"),
          timeline("timeline on one line", ", "),
          horovod(),
          tensorflow(),
          kineto("kineto", "\n    "),
          kineto("kineto on one line", " "),
          torch_array()};
}

// A damaged file: ranges of the good one in their new order, with other bytes between them.
struct Damaged {
  std::string kind;
  std::string content;
  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  std::vector<Range> kept{};
};

class Damager {
 public:
  explicit Damager(std::uint32_t seed) : random_(seed) {}

  std::size_t below(std::size_t end) { return random_() % end; }

  Damaged damage(const std::string& good) {
    const std::size_t size = good.size();
    const std::size_t at = below(size);
    switch (below(12)) {
      case 0:
        return without_one_of(good, "{}[]");
      case 1:
        return without_one_of(good, "\"");
      case 2:
        return inserted("stray", good, at, std::string(1, "[]{},\""[below(6)]));
      case 3:
        return inserted("comma", good, good.find(',', at), ",");
      case 4:
        return inserted("bracket", good, good.find('[', at), "[");
      case 5:
        return replaced("NULs", good, at, std::min(size, at + below(300) + 1), '\0');
      case 6:
        return inserted("NULs inserted", good, at, std::string(below(300) + 1, '\0'));
      case 7: {
        const std::size_t end = std::min(size, at + below(900) + 1);
        return {"cut out", good.substr(0, at) + good.substr(end), {{0, at}, {end, size}}};
      }
      case 8: {
        const std::size_t end = std::min(size, at + below(900) + 1);
        return {"doubled", good.substr(0, end) + good.substr(at), {{0, end}, {at, size}}};
      }
      case 9:
        return replaced("byte", good, at, at + 1, static_cast<char>(random_()));
      case 10:
        return {"truncated", good.substr(0, at), {{0, at}}};
      default:
        return swapped(good);
    }
  }

 private:
  Damaged without_one_of(const std::string& good, const char* characters) {
    const std::size_t at = good.find_first_of(characters, below(good.size()));
    if (at == std::string::npos) return {"none", good, {{0, good.size()}}};
    return {std::string("without ") + good[at],
            good.substr(0, at) + good.substr(at + 1),
            {{0, at}, {at + 1, good.size()}}};
  }
  static Damaged inserted(const std::string& kind, const std::string& good, std::size_t at,
                          const std::string& text) {
    at = std::min(at, good.size());
    return {kind + " " + text,
            good.substr(0, at) + text + good.substr(at),
            {{0, at}, {at, good.size()}}};
  }
  static Damaged replaced(const std::string& kind, const std::string& good, std::size_t begin,
                          std::size_t end, char c) {
    Damaged out{kind, good, {{0, begin}, {end, good.size()}}};
    std::fill(out.content.begin() + static_cast<std::ptrdiff_t>(begin),
              out.content.begin() + static_cast<std::ptrdiff_t>(end), c);
    return out;
  }
  Damaged swapped(const std::string& good) {
    std::size_t cuts[] = {below(good.size()), below(good.size()), below(good.size())};
    std::sort(std::begin(cuts), std::end(cuts));
    const auto [a, b, c] = cuts;
    return {"swapped",
            good.substr(0, a) + good.substr(b, c - b) + good.substr(a, b - a) + good.substr(c),
            {{0, a}, {b, c}, {a, b}, {c, good.size()}}};
  }

  std::mt19937 random_;
};

// What is wholly inside a range that was kept, but for its first record.
std::set<std::string> must_survive(const GoodFile& good, const Damaged& damaged) {
  std::set<std::string> out;
  for (const Damaged::Range& range : damaged.kept) {
    const bool behind = &range != &damaged.kept.front();
    int distance = behind ? 1 : 0;
    for (const GoodFile::Record& record : good.records) {
      if (record.begin < range.begin || record.end > range.end) continue;
      if (behind && record.begin < range.begin + good.swallowed) continue;
      if (distance-- > 0) continue;
      out.insert(record.shown);
    }
    // The document ends here.
    if (good.object_root && range.end == good.content.size()) break;
  }
  return out;
}

struct Reading {
  Outcome outcome;
  ByteAccount bytes;
  std::uint64_t undecoded = 0;
};

Reading read_file(const std::string& path, std::string_view content, std::size_t piece) {
  DecodeRun run{path};
  for (std::size_t at = 0; at < content.size(); at += piece) run.feed(content.substr(at, piece));
  Reading out;
  out.outcome = run.finish();
  out.bytes = run.decoder().bytes();
  out.undecoded = run.decoder().undecoded();
  return out;
}

std::string explain(const GoodFile& good, const Damaged& damaged, const Reading& read) {
  std::string kept;
  for (const auto& [begin, end] : damaged.kept) {
    kept += " [" + std::to_string(begin) + "," + std::to_string(end) + ")";
  }
  std::string rejects;
  for (const std::string& reason : read.outcome.rejects) rejects += " " + reason;
  std::string around;
  std::size_t at = 0;
  for (const auto& [begin, end] : damaged.kept) {
    around += "\n..." + damaged.content.substr(at > 150 ? at - 150 : 0, 300);
    at += end - begin;
  }
  return good.name + ": " + damaged.kind + ", kept" + kept + ", format " + read.outcome.format +
         ", rejects" + rejects + around;
}

void expect_accounted(const GoodFile& good, const Damaged& damaged, Damager& random) {
  const Reading read = read_file(good.path, damaged.content, random.below(700) + 1);
  ASSERT_EQ(read.bytes.total(), damaged.content.size()) << explain(good, damaged, read);
  if (read.bytes.skipped + read.bytes.rejected > 0) {
    ASSERT_FALSE(read.outcome.rejects.empty()) << explain(good, damaged, read);
  }
  std::string shown;
  for (const std::string& event : read.outcome.events) shown += event + "\n";
  for (const std::string& name : must_survive(good, damaged)) {
    ASSERT_NE(shown.find(name), std::string::npos) << name << " is lost\n"
                                                   << explain(good, damaged, read);
  }
}

int damages(int usual) {
  const char* const wanted = std::getenv("TRAINWATCH_DAMAGES");
  return wanted != nullptr ? std::atoi(wanted) : usual;
}

TEST(Damage, EveryByteIsAccountedForAndWhatFollowsIsRead) {
  const std::vector<GoodFile> files = good_files();
  const int count = damages(4000);
  const char* const first = std::getenv("TRAINWATCH_FIRST_DAMAGE");
  for (int seed = first != nullptr ? std::atoi(first) : 0; seed < count; ++seed) {
    Damager random{static_cast<std::uint32_t>(seed)};
    const GoodFile& good = files[static_cast<std::size_t>(seed) % files.size()];
    SCOPED_TRACE("seed " + std::to_string(seed));
    expect_accounted(good, random.damage(good.content), random);
    if (HasFatalFailure()) return;
  }
}

TEST(Damage, TheGoodFilesThemselvesHaveNone) {
  for (const GoodFile& good : good_files()) {
    const Reading read = read_file(good.path, good.content, 1000);
    EXPECT_EQ(read.outcome.rejects, std::vector<std::string>{}) << good.name;
    EXPECT_EQ(read.bytes.total(), good.content.size());
    EXPECT_EQ(read.bytes.rejected + read.bytes.skipped, 0U);
    const Damaged whole{"none", good.content, {{0, good.content.size()}}};
    EXPECT_EQ(must_survive(good, whole).size(), static_cast<std::size_t>(kRecords));
    std::string shown;
    for (const std::string& event : read.outcome.events) shown += event + "\n";
    for (const auto& record : good.records) EXPECT_NE(shown.find(record.shown), std::string::npos);
  }
}

std::size_t inflated_size(std::string_view packed, std::size_t piece) {
  InflateStream stream;
  std::size_t size = 0;
  for (std::size_t at = 0; at < packed.size(); at += piece) {
    stream.push(packed.substr(at, piece));
    for (auto part = stream.pull(); !part.empty(); part = stream.pull()) size += part.size();
  }
  return size;
}

TEST(Damage, OfCompressedFilesTheContentsThatAreLeftAreAccountedFor) {
  const std::vector<GoodFile> files = good_files();
  for (int seed = 0; seed < damages(4000) / 4; ++seed) {
    Damager random{static_cast<std::uint32_t>(seed)};
    const GoodFile& good = files[static_cast<std::size_t>(seed) % files.size()];
    const Damaged damaged = random.damage(gzip(good.content));
    if (!damaged.content.starts_with("\x1f\x8b")) continue;
    const std::size_t piece = random.below(700) + 1;
    const Reading read = read_file(good.path + ".gz", damaged.content, piece);
    ASSERT_EQ(read.bytes.total(), inflated_size(damaged.content, piece))
        << explain(good, damaged, read) << " seed " << seed;
    if (read.bytes.skipped + read.bytes.rejected + read.undecoded > 0) {
      ASSERT_FALSE(read.outcome.rejects.empty()) << good.name << " seed " << seed;
    }
  }
}

}  // namespace trainwatch::testing::damage_test
