// SPDX-License-Identifier: Apache-2.0
// The alerts that a run must give, worked out the plain way: the list of all records that a writer
// ever wrote, and sums over it. Knows nothing of how the pipeline does it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace trainwatch::test {

// The records of one node in the order in which they were written. Record i has time kFirst + i
// seconds.
class LaneLog {
 public:
  static constexpr std::int64_t kFirst = 1'795'236'000;
  enum class Fate : std::uint8_t { sure, maybe, never };  // whether the pipeline has to see it

  struct Record {
    int value = 0;
    Fate fate = Fate::sure;
  };

  std::size_t add(int value) {
    records.push_back({value});
    return records.size() - 1;
  }
  void doubt(std::size_t record) {
    if (records[record].fate == Fate::sure) records[record].fate = Fate::maybe;
  }
  void drop(std::size_t record) { records[record].fate = Fate::never; }

  std::vector<Record> records;
};

class Oracle {
 public:
  LaneLog& lane(const std::string& node) { return lanes_[node].log; }
  static constexpr int kAlertAt = 90;

  // The next alert of the sum rule in the order in which it came; returns what is wrong with it, or
  // nothing.
  std::string check(const std::string& json) {
    const std::string node = text_after(json, "\"node\":\"");
    const auto lane = lanes_.find(node);
    if (lane == lanes_.end()) return "an alert of nobody: " + json;
    long long count = 0;
    long long sum = 0;
    long long at = 0;
    const std::string summary = text_after(json, "\"summary\":\"");
    if (std::sscanf(summary.c_str(), "n=%lld s=%lld at=%lld", &count, &sum, &at) != 3) {
      return "no numbers in " + json;
    }
    if (std::strtod(after(json, "\"value\":"), nullptr) != static_cast<double>(sum) ||
        std::strtoll(after(json, "\"step\":"), nullptr, 10) != count) {
      return "value or step is not what the summary says: " + json;
    }
    const bool resolved = text_after(json, "\"state\":\"") == "resolved";
    const auto index = static_cast<std::size_t>(at / 1'000'000'000 - LaneLog::kFirst);
    const std::string wrong = resolved ? over(lane->second, index, text_after(json, "\"id\":\""))
                                       : begun(lane->second, index, {count, sum});
    if (!resolved) lane->second.id = text_after(json, "\"id\":\"");
    return wrong.empty() ? wrong : node + ": " + wrong + " in " + json;
  }

  // What never came; nothing if all is well.
  std::string missing() const {
    for (const auto& [node, lane] : lanes_) {
      if (lane.firing) return node + ": the last alert is not resolved";
      const auto sure = std::ranges::count(lane.log.records, LaneLog::Fate::sure,
                                           [](const auto& record) { return record.fate; });
      if (sure < 2 && lane.last.first == 0) continue;  // the first waits for another that agrees
      for (std::size_t i = lane.next; i < lane.log.records.size(); ++i) {
        if (must_alert(lane.log.records[i])) return node + ": no alert at record " + number(i);
      }
    }
    return {};
  }

  // How many alerts were checked, and how many records turned out to be lost.
  std::uint64_t checked() const { return checked_; }
  std::uint64_t lost() const { return lost_; }

 private:
  using Sum = std::pair<long long, long long>;  // of some records: how many, and their values

  struct Lane {
    LaneLog log;
    std::size_t next = 0;  // the record after that of the last alert
    Sum last{};            // as that alert said
    bool firing = false;
    std::string id;
  };

  static std::string number(std::size_t i) { return std::to_string(i); }
  static bool must_alert(const LaneLog::Record& record) {
    return record.fate == LaneLog::Fate::sure && record.value >= kAlertAt;
  }

  std::string over(Lane& lane, std::size_t index, const std::string& id) {
    if (!lane.firing || index + 1 != lane.next || lane.id != id) return "resolved out of turn";
    lane.firing = false;
    ++checked_;
    return {};
  }

  std::string begun(Lane& lane, std::size_t index, Sum said) {
    const auto& records = lane.log.records;
    if (index >= records.size()) return "a record that was never written";
    if (lane.firing) return "the one before was not resolved";
    if (index < lane.next) return "an alert again, or late: record " + number(index);
    if (records[index].value < kAlertAt) return "an alert for a value below the limit";
    Sum sure{};
    std::set<Sum> ways = {{0, 0}};  // all that records in doubt may add
    for (std::size_t i = lane.next; i <= index; ++i) {
      if (i < index && must_alert(records[i])) return "before it no alert at record " + number(i);
      if (records[i].fate == LaneLog::Fate::sure || i == index) {
        ++sure.first;
        sure.second += records[i].value;
      } else if (records[i].fate == LaneLog::Fate::maybe) {
        const std::set<Sum> without = ways;
        for (const Sum& way : without) ways.emplace(way.first + 1, way.second + records[i].value);
      }
    }
    const Sum more{said.first - lane.last.first - sure.first,
                   said.second - lane.last.second - sure.second};
    if (!ways.contains(more)) {
      return "count and sum are off by " + std::to_string(more.first) + " and " +
             std::to_string(more.second) + " since record " + number(lane.next);
    }
    lost_ += static_cast<std::uint64_t>(ways.rbegin()->first - more.first);
    lane.next = index + 1;
    lane.last = said;
    lane.firing = true;
    ++checked_;
    return {};
  }

  static const char* after(const std::string& json, const char* name) {
    const auto at = json.find(name);
    return at == std::string::npos ? "" : json.c_str() + at + std::string(name).size();
  }
  static std::string text_after(const std::string& json, const char* name) {
    const std::string rest = after(json, name);
    return rest.substr(0, rest.find('"'));
  }

  std::map<std::string, Lane> lanes_;
  std::uint64_t checked_ = 0;
  std::uint64_t lost_ = 0;
};

}  // namespace trainwatch::test
