// A first-in first-out queue of steps that takes little memory, for each of thousands of ranks has
// one with dozens of steps: what few steps have, such as phases or a change of pace, is kept only
// of those. Most take 72 bytes instead of 176.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trainwatch/event.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

class WaitingSteps {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }

  void push_back(const Step& step);
  void pop_front();
  // None of these if it is empty.
  Step front() const;
  Time oldest_end() const { return oldest_end_; }  // that of front()
  Time newest_end() const { return newest_end_; }  // of the step that was added last

  // As a vector of steps.
  void state(StateIo& io);

 private:
  void make_room(std::size_t words);
  Time end_of_front() const;

  std::vector<std::uint64_t> words_;  // from first_ on: each step's head, then its numbers
  std::size_t first_ = 0;
  std::size_t size_ = 0;
  Time oldest_end_ = kNoTime;
  Time newest_end_ = kNoTime;
};

}  // namespace trainwatch
