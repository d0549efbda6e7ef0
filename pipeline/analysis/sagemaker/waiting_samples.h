// SPDX-License-Identifier: Apache-2.0
// A queue of the samples of a node that wait for their training phase. Consecutive samples of the
// same time and type share both, so a sample takes little more than its value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "trainwatch/event.h"
#include "trainwatch/interner.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

class WaitingSamples {
 public:
  struct Sample {
    Time at{};
    double value = 0;
    Symbol type = Symbol::none;
  };

  bool empty() const { return values_.empty(); }
  std::size_t size() const { return values_.size(); }
  Sample front() const { return {runs_.front().at, values_.front(), runs_.front().type}; }

  void push_back(const Sample& sample) {
    const bool same =
        !runs_.empty() && runs_.back().at == sample.at && runs_.back().type == sample.type;
    if (!same) runs_.push_back({sample.at, sample.type});
    ++runs_.back().count;
    values_.push_back(sample.value);
  }
  void pop_front() {
    values_.pop_front();
    if (--runs_.front().count == 0) runs_.pop_front();
  }
  // Calls `use(sample)` for each.
  template <class Use>
  void each(Use&& use) const {
    each_run([&use](const Run& run, auto value) {
      for (std::uint32_t i = 0; i < run.count; ++i) use(Sample{run.at, *value++, run.type});
    });
  }

  void state(StateIo& io) {
    std::vector<Saved> saved;
    each_run([&saved](const Run& run, auto values) {
      saved.push_back({run.at, run.type, {values, values + run.count}});
    });
    io(saved);
    if (!io.is_loading()) return;
    runs_.clear();
    values_.clear();
    for (const Saved& run : saved) {
      for (const double value : run.values) push_back({run.at, value, run.type});
    }
  }

 private:
  struct Run {
    Time at{};
    Symbol type = Symbol::none;
    std::uint32_t count = 0;
  };
  // A run with its values: if its type no longer exists, loading leaves out both.
  struct Saved {
    Time at{};
    Symbol type = Symbol::none;
    std::vector<double> values;
  };

  template <class Use>
  void each_run(Use&& use) const {
    auto values = values_.begin();
    for (const Run& run : runs_) {
      use(run, values);
      values += run.count;
    }
  }

  std::deque<Run> runs_;
  std::deque<double> values_;
};

}  // namespace trainwatch
