// Values in ascending order, as a view of values that lie in any order and of their places by
// value: 2 or 4 bytes for each value, where a sorted copy takes 8. It owns neither.
#pragma once

#include <compare>
#include <cstddef>
#include <iterator>
#include <span>

namespace trainwatch {

template <class Place>
class AscendingValues {
 public:
  class Iterator {
   public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = double;
    using difference_type = std::ptrdiff_t;
    using pointer = const double*;
    using reference = double;

    Iterator() = default;
    Iterator(const double* values, const Place* at) : values_(values), at_(at) {}
    double operator*() const { return values_[*at_]; }
    double operator[](difference_type n) const { return values_[at_[n]]; }
    Iterator& operator+=(difference_type n) {
      at_ += n;
      return *this;
    }
    Iterator& operator-=(difference_type n) { return *this += -n; }
    Iterator& operator++() { return *this += 1; }
    Iterator& operator--() { return *this += -1; }
    Iterator operator++(int) { return {values_, at_++}; }
    Iterator operator--(int) { return {values_, at_--}; }
    friend Iterator operator+(Iterator it, difference_type n) { return it += n; }
    friend Iterator operator+(difference_type n, Iterator it) { return it += n; }
    friend Iterator operator-(Iterator it, difference_type n) { return it -= n; }
    friend difference_type operator-(const Iterator& a, const Iterator& b) { return a.at_ - b.at_; }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }
    auto operator<=>(const Iterator& other) const { return at_ <=> other.at_; }

   private:
    const double* values_ = nullptr;
    const Place* at_ = nullptr;
  };

  AscendingValues(std::span<const double> values, std::span<const Place> order)
      : values_(values), order_(order) {}

  std::size_t size() const { return order_.size(); }
  bool empty() const { return order_.empty(); }
  double operator[](std::size_t rank) const { return values_[order_[rank]]; }
  double back() const { return values_[order_.back()]; }
  Iterator begin() const { return {values_.data(), order_.data()}; }
  Iterator end() const { return {values_.data(), order_.data() + order_.size()}; }

 private:
  std::span<const double> values_;
  std::span<const Place> order_;
};

}  // namespace trainwatch
