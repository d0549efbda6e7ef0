// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/slurm_log.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/path_metadata.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMostDigits = 8;  // Slurm counts to 67,108,863

// Digits at the end of a name, and what is before them, without what separates them from it.
struct Numbered {
  std::string_view before;
  std::string_view digits;
};

Numbered split_number(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  const std::size_t begin = last == std::string_view::npos ? 0 : last + 1;
  if (begin == name.size()) return {};
  if (begin == 0) return {{}, name};
  constexpr std::string_view kSeparators = "-_.";
  if (kSeparators.find(name[last]) == std::string_view::npos) return {};
  return {name.substr(0, last), name.substr(begin)};
}

// "20261129"
bool is_date(std::string_view digits) {
  if (digits.size() != 8 || !digits.starts_with("20")) return false;
  const std::string_view month = digits.substr(4, 2);
  const std::string_view day = digits.substr(6, 2);
  return month >= "01" && month <= "12" && day >= "01" && day <= "31";
}

// "node" of "run-node": what the number counts, unless it is that of a job.
bool counts_something_else(std::string_view before) {
  constexpr std::string_view kWords[] = {"rank", "worker", "node",    "host",  "algo", "gpu",
                                         "step", "epoch",  "attempt", "cycle", "part", "iter"};
  return std::ranges::any_of(kWords, [&](std::string_view word) { return before.ends_with(word); });
}

bool is_of_job(const Numbered& number, std::size_t fewest) {
  const std::string_view digits = number.digits;
  if (digits.empty() || digits.front() == '0' || digits.size() > kMostDigits) return false;
  if (number.before == "slurm") return true;
  return digits.size() >= fewest && !is_date(digits) && !counts_something_else(number.before);
}

}  // namespace

std::string_view slurm_number(std::string_view path) {
  std::string_view stem = base_name(path);
  const bool log = stem.ends_with(".log");
  if (!log && !stem.ends_with(".out") && !stem.ends_with(".err")) return {};
  stem.remove_suffix(4);
  const std::size_t fewest = log ? 4 : 3;
  const Numbered last = split_number(stem);
  if (is_of_job(last, fewest)) return last.digits;
  const Numbered array = split_number(last.before);
  const bool task = !last.digits.empty() && stem[last.before.size()] == '_';
  if (!task || !is_of_job(array, fewest)) return {};
  return {array.digits.data(),
          static_cast<std::size_t>(std::distance(array.digits.begin(), stem.end()))};
}

bool is_earlier_slurm_number(std::string_view one, std::string_view other) {
  const auto rank = [](std::string_view number) {
    return number.substr(0, number.find('_')).size();
  };
  return rank(one) != rank(other) ? rank(one) < rank(other) : one < other;
}

}  // namespace trainwatch
