// SPDX-License-Identifier: Apache-2.0
// A first-in first-out queue in one ring of memory that grows with what it holds. There is one for
// each of thousands of ranks, most of them empty or short: a std::deque takes 576 bytes when it is
// empty.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "trainwatch/state_io.h"

namespace trainwatch {

template <class T>
class RingQueue {
  template <class Value>
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = Value*;
    using reference = Value&;

    Iterator() = default;
    Iterator(Value* ring, std::size_t turn, std::size_t at, std::size_t left)
        : ring_(ring), turn_(turn), at_(at), left_(left) {}
    reference operator*() const { return ring_[at_]; }
    pointer operator->() const { return ring_ + at_; }
    Iterator& operator++() {
      if (++at_ == turn_) at_ = 0;
      --left_;
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const Iterator& other) const { return left_ == other.left_; }

   private:
    Value* ring_ = nullptr;
    std::size_t turn_ = 0;  // its size
    std::size_t at_ = 0;
    std::size_t left_ = 0;  // from here to the end
  };

 public:
  using iterator = Iterator<T>;
  using const_iterator = Iterator<const T>;

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }

  // The oldest is number 0.
  T& operator[](std::size_t place) { return ring_[index(place)]; }
  const T& operator[](std::size_t place) const { return ring_[index(place)]; }
  T& front() { return (*this)[0]; }
  const T& front() const { return (*this)[0]; }
  T& back() { return (*this)[size_ - 1]; }
  const T& back() const { return (*this)[size_ - 1]; }

  // Room is made for `most` at most, if it is known.
  void push_back(T value, std::size_t most = std::numeric_limits<std::size_t>::max()) {
    if (size_ == ring_.size()) grow(most);
    ring_[index(size_++)] = std::move(value);
  }
  // What it held stays allocated, and is overwritten by a later push.
  void pop_front() {
    assert(size_ > 0);
    first_ = index(1);
    --size_;
  }

  iterator begin() { return {ring_.data(), ring_.size(), first_, size_}; }
  iterator end() { return {ring_.data(), ring_.size(), 0, 0}; }
  const_iterator begin() const { return {ring_.data(), ring_.size(), first_, size_}; }
  const_iterator end() const { return {ring_.data(), ring_.size(), 0, 0}; }

  void state(StateIo& io) {
    std::vector<T> all(begin(), end());
    io(all);
    if (!io.is_loading()) return;
    ring_ = std::move(all);
    first_ = 0;
    size_ = ring_.size();
  }

 private:
  // `place` is size_ at most, and so at most one turn ahead.
  std::size_t index(std::size_t place) const {
    const std::size_t at = first_ + place;
    return at >= ring_.size() ? at - ring_.size() : at;
  }
  void grow(std::size_t most) {
    std::rotate(ring_.begin(), ring_.begin() + static_cast<std::ptrdiff_t>(first_), ring_.end());
    first_ = 0;
    assert(most > size_);
    const std::size_t wanted = std::min(std::max<std::size_t>(2 * size_, 1), most);
    ring_.reserve(wanted);  // resize() alone would make room for twice as many
    ring_.resize(wanted);
  }

  std::vector<T> ring_;  // all of it is constructed
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

}  // namespace trainwatch
