// SPDX-License-Identifier: Apache-2.0
// Python's profiles: dumps of marshal, pstats and pyinstrument are read or refused with a reason,
// and what is read can be added up.
#include <string>
#include <string_view>

#include "fuzz/fuzz_target.h"
#include "pipeline/profile/cprofile_stats.h"
#include "pipeline/profile/marshal_reader.h"
#include "pipeline/profile/pyinstrument_stats.h"

namespace trainwatch::fuzz {
namespace {

// Visits values, at most so many: an object with many links to it is visited again and again.
void visit(const MarshalValue& value, int depth, std::size_t& left) {
  if (left == 0) return;
  --left;
  expect(depth <= kMaxMarshalDepth, "nesting is bounded");
  if (value.is_text()) expect(value.text().size() <= kMaxMarshalBytes, "a text is in the dump");
  for (std::size_t i = 0; value.is_sequence() && i < value.size(); ++i) {
    visit(value.item(i), depth + 1, left);
  }
  for (std::size_t i = 0; value.is_dict() && i < value.size(); ++i) {
    visit(value.key(i), depth + 1, left);
    visit(value.value(i), depth + 1, left);
  }
}

template <class Stats>
void expect_sums(const Result<Stats>& stats) {
  if (!stats.ok()) return expect(!stats.error().message.empty(), "a refusal has a reason");
  Stats twice = *stats;
  twice.add(*stats);
  expect(twice.functions().size() == stats->functions().size(), "a function is itself");
}

}  // namespace

void read_python_profiles(std::string_view input) {
  if (const auto dump = read_marshal(std::string(input)); dump.ok()) {
    std::size_t left = 10'000;
    visit(dump->root(), 0, left);
  } else {
    expect(!dump.error().message.empty(), "a refusal has a reason");
  }
  const auto stats = CprofileStats::parse(std::string(input));
  expect_sums(stats);
  if (stats.ok()) expect(stats->top_by_cumulative_time(3).size() <= 3, "no more than asked for");
  expect_sums(PyinstrumentStats::parse(input));
}

}  // namespace trainwatch::fuzz
