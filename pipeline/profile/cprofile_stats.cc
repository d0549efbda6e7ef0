// SPDX-License-Identifier: Apache-2.0
#include "pipeline/profile/cprofile_stats.h"

#include <optional>
#include <utility>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/profile/marshal_reader.h"
#include "pipeline/profile/python_function.h"

namespace trainwatch {
namespace {

std::optional<std::int64_t> time_of(MarshalValue value) {
  if (value.is_real()) return seconds_to_ns(value.real());
  if (value.is_integer()) return seconds_to_ns(static_cast<double>(value.integer()));
  return std::nullopt;
}

// (file, line, function)
std::optional<PythonFunction> function_of(MarshalValue value) {
  if (!value.is_sequence() || value.size() != 3) return std::nullopt;
  const MarshalValue file = value.item(0);
  const MarshalValue line = value.item(1);
  const MarshalValue name = value.item(2);
  if (!file.is_text() || !line.is_integer() || !name.is_text()) return std::nullopt;
  if (file.text().size() > PythonFunction::kMaxNameBytes) return std::nullopt;
  if (name.text().size() > PythonFunction::kMaxNameBytes) return std::nullopt;
  return PythonFunction{valid_utf8(file.text()), line.integer(), valid_utf8(name.text())};
}

// Two counts and two times, at the beginning of a tuple.
std::optional<CallStats> calls_of(MarshalValue value, std::size_t pcalls_at,
                                  std::size_t ncalls_at) {
  const MarshalValue pcalls = value.item(pcalls_at);
  const MarshalValue ncalls = value.item(ncalls_at);
  const auto total = time_of(value.item(2));
  const auto cumulative = time_of(value.item(3));
  if (!pcalls.is_integer() || !ncalls.is_integer() || !total || !cumulative) return std::nullopt;
  return CallStats{pcalls.integer(), ncalls.integer(), *total, *cumulative};
}

// cProfile: (ncalls, pcalls, total, cumulative), with the counts in the opposite order to a
// function's own. profile: the number of calls.
std::optional<CallStats> caller_of(MarshalValue value) {
  if (value.is_integer()) return CallStats{value.integer(), value.integer(), 0, 0};
  if (!value.is_sequence() || value.size() != 4) return std::nullopt;
  return calls_of(value, 1, 0);
}

Error broken(std::size_t index, const char* what) {
  return Error{"function " + std::to_string(index + 1) + " of the profile: " + what};
}

}  // namespace

CallStats& CallStats::operator+=(const CallStats& other) {
  pcalls = saturating_add(pcalls, other.pcalls);
  ncalls = saturating_add(ncalls, other.ncalls);
  total_ns = saturating_add(total_ns, other.total_ns);
  cumulative_ns = saturating_add(cumulative_ns, other.cumulative_ns);
  return *this;
}

Result<CprofileStats> CprofileStats::parse(std::string dump) {
  const auto document = read_marshal(std::move(dump));
  if (!document) return document.error();
  const MarshalValue root = document->root();
  if (!root.is_dict()) return Error{"the dump holds no table of functions"};
  CprofileStats stats;
  for (std::size_t i = 0; i < root.size(); ++i) {
    const auto function = function_of(root.key(i));
    if (!function) return broken(i, "its key is not (file, line, function)");
    const MarshalValue value = root.value(i);
    const bool shaped = value.is_sequence() && value.size() == 5 && value.item(4).is_dict();
    const auto calls = shaped ? calls_of(value, 0, 1) : std::nullopt;
    if (!calls) return broken(i, "not two counts, two times and its callers");
    Table::Entry* const entry = stats.table_.entry(*function);
    if (entry == nullptr) return broken(i, "the names are too long for one profile");
    entry->second = Row{*calls, {}};  // as in a Python dict: the later of two equal keys wins
    const MarshalValue callers = value.item(4);
    for (std::size_t j = 0; j < callers.size(); ++j) {
      auto caller = function_of(callers.key(j));
      const auto share = caller_of(callers.value(j));
      if (!caller || !share) return broken(i, "a caller is not one");
      if (!stats.table_.take_room(*caller)) {
        return broken(i, "the names are too long for one profile");
      }
      entry->second.callers.insert_or_assign(std::move(*caller), *share);
    }
  }
  return stats;
}

void CprofileStats::add(const CprofileStats& other) {
  for (const auto& [function, row] : other.table_.rows()) {
    Table::Entry* const mine = table_.entry(function);
    if (mine == nullptr) {
      ++dropped_;
      continue;
    }
    mine->second.calls += row.calls;
    auto& callers = mine->second.callers;
    for (const auto& [caller, share] : row.callers) {
      if (!callers.contains(caller) && !table_.take_room(caller)) {
        ++dropped_;
        continue;
      }
      callers[caller] += share;
    }
  }
  dropped_ += other.dropped_;
}

CallStats CprofileStats::totals() const {
  CallStats sum;
  for (const auto& [function, row] : functions()) sum += row.calls;
  sum.cumulative_ns = 0;
  return sum;
}

std::vector<const CprofileStats::Table::Entry*> CprofileStats::top_by_cumulative_time(
    std::size_t count) const {
  return table_.top(count, [](const Row& row) { return row.calls.cumulative_ns; });
}

}  // namespace trainwatch
