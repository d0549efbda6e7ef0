// SPDX-License-Identifier: Apache-2.0
// The ranks of a process group, sorted. Each rank of a large job has a list of the same thousands:
// what is every so many of them takes as little room as one, and copies share it.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <vector>

#include "trainwatch/state_io.h"

namespace trainwatch {

class RankList {
 public:
  RankList() = default;
  // In any order; each counts once.
  RankList(std::vector<std::int32_t> ranks);
  RankList(std::initializer_list<std::int32_t> ranks) : RankList(std::vector(ranks)) {}

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  bool contains(std::int32_t rank) const;
  std::vector<std::int32_t> all() const;

  // Equal ranks are equal lists; the order is otherwise of no meaning.
  std::strong_ordering operator<=>(const RankList& other) const { return runs() <=> other.runs(); }
  bool operator==(const RankList& other) const { return runs() == other.runs(); }

  void state(StateIo& io);

 private:
  static constexpr std::size_t kMostLoaded = std::size_t{1} << 20U;
  struct Run {
    std::int32_t first = 0;
    std::int32_t step = 1;
    std::int32_t count = 0;

    std::int64_t last() const { return first + std::int64_t{step} * (count - 1); }
    auto operator<=>(const Run&) const = default;
  };
  const std::vector<Run>& runs() const;

  std::shared_ptr<const std::vector<Run>> runs_;  // ascending, apart; null: none
  std::size_t size_ = 0;
};

}  // namespace trainwatch
