// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tail/head_likeness.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

namespace trainwatch {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kSameTime = 2 * kSecond;  // one may print whole seconds, and a bit later
constexpr std::int64_t kZone = 900 * kSecond;    // zones differ by whole quarters of an hour
constexpr std::int64_t kWidestZone = 26 * 3600 * kSecond;

// How many digits the shortest form of the value has behind the point.
int decimals_of(double value) {
  std::array<char, 400> text{};
  const auto [end, error] =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc{}) return 0;
  const std::string_view digits(text.data(), static_cast<std::size_t>(end - text.data()));
  const std::size_t point = digits.find('.');
  return point == std::string_view::npos ? 0 : static_cast<int>(digits.size() - point - 1);
}

// The precision that a file prints: zeros at the end of a number cannot be seen.
int decimals_of(const HeadContent& content, std::size_t tag) {
  int most = 0;
  for (const HeadRecord& record : content.records) {
    for (const HeadRecord::Value& each : record.values) {
      if (each.tag == tag && std::isfinite(each.value)) {
        most = std::max(most, decimals_of(each.value));
      }
    }
  }
  return most;
}

bool is_same(double a, double b, int decimals) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (a == b) return true;
  constexpr double kRelative = 5e-7;  // of seven digits the last one
  return std::abs(a - b) <= std::max(0.5001 * std::pow(10.0, -decimals),
                                     kRelative * std::max(std::abs(a), std::abs(b)));
}

// "bert" and "bert/logs", and a job without a name and any other.
bool contains(const std::string& job, const std::string& other) {
  if (!other.starts_with(job)) return false;
  return job.empty() || other.size() == job.size() || other[job.size()] == '/';
}

class Comparison {
 public:
  Comparison(const HeadContent& a, const HeadContent& b) : a_(a), b_(b) {}

  Likeness result() {
    for (const HeadRecord& record : a_.records) {
      const auto other = std::ranges::find(b_.records, record.step, &HeadRecord::step);
      if (other == b_.records.end()) continue;
      if (!agree(record, *other)) return Likeness::different;
    }
    if (common_ == 0) return Likeness::different;
    return common_ >= kLeastCommonRecords && varies_ ? Likeness::same : Likeness::alike;
  }

 private:
  bool agree(const HeadRecord& record, const HeadRecord& other) {
    if (!same_time(record, other)) return false;
    std::size_t compared = 0;
    for (const HeadRecord::Value& each : record.values) {
      const auto found = std::ranges::find(other.values, each.tag, &HeadRecord::Value::tag);
      if (found == other.values.end()) continue;
      if (!agree(each, *found)) return false;
      ++compared;
    }
    // The writers call it by different names: the first value of a record is its loss.
    const HeadRecord::Value& first = record.values.front();
    const HeadRecord::Value& other_first = other.values.front();
    if (compared == 0 && !agree(first, other_first)) return false;
    if (common_++ == 0) {
      first_ = first.value;
      other_first_ = other_first.value;
    }
    varies_ = varies_ || (first.value != first_ && other_first.value != other_first_);
    return true;
  }

  bool agree(const HeadRecord::Value& value, const HeadRecord::Value& other) const {
    const int decimals = std::min(decimals_of(a_, value.tag), decimals_of(b_, other.tag));
    return is_same(value.value, other.value, decimals);
  }

  bool same_time(const HeadRecord& record, const HeadRecord& other) {
    if (!record.timed || !other.timed) return a_.job == b_.job;
    const std::int64_t difference = record.at_ns - other.at_ns;
    if (a_.job != b_.job) return std::abs(difference) <= kSameTime;
    if (std::abs(difference) > kWidestZone) return false;
    const std::int64_t rest = std::abs(difference) % kZone;
    return std::min(rest, kZone - rest) <= kSameTime;
  }

  const HeadContent& a_;
  const HeadContent& b_;
  std::size_t common_ = 0;
  bool varies_ = false;
  double first_ = 0;  // of the first common record
  double other_first_ = 0;
};

}  // namespace

Likeness likeness_of(const HeadContent& a, const HeadContent& b) {
  if (a.rank != b.rank) return Likeness::different;
  if (!contains(a.job, b.job) && !contains(b.job, a.job)) return Likeness::different;
  return Comparison(a, b).result();
}

}  // namespace trainwatch
