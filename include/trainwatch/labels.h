// SPDX-License-Identifier: Apache-2.0
// The labels of a series: names and values, in order. They lie in one piece of memory: a large job
// has tens of thousands of series, all of which are published every second.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace trainwatch {

class Labels {
  using Sizes = std::array<std::uint32_t, 2>;  // of a name and of its value

 public:
  using Label = std::pair<std::string_view, std::string_view>;  // name and value

  // Yields views, which are valid until the labels change.
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Label;
    using difference_type = std::ptrdiff_t;
    using pointer = const Label*;
    using reference = Label;

    Iterator() = default;
    explicit Iterator(const char* at) : at_(at) {}
    Label operator*() const {
      const Sizes sizes = this->sizes();
      const char* const name = at_ + sizeof sizes;
      return {{name, sizes[0]}, {name + sizes[0], sizes[1]}};
    }
    Iterator& operator++() {
      const Sizes sizes = this->sizes();
      at_ += sizeof sizes + sizes[0] + sizes[1];
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const Iterator& other) const = default;

   private:
    Sizes sizes() const {
      Sizes sizes;
      std::memcpy(&sizes, at_, sizeof sizes);
      return sizes;
    }
    const char* at_ = nullptr;
  };

  Labels() = default;
  Labels(std::initializer_list<Label> labels) {
    for (const auto& [name, value] : labels) add(name, value);
  }

  void add(std::string_view name, std::string_view value) {
    const Sizes sizes{static_cast<std::uint32_t>(name.size()),
                      static_cast<std::uint32_t>(value.size())};
    char bytes[sizeof sizes];
    std::memcpy(bytes, &sizes, sizeof sizes);
    bytes_.reserve(bytes_.size() + sizeof sizes + name.size() + value.size());
    bytes_.append(bytes, sizeof sizes).append(name).append(value);
  }
  void add(const Labels& more) { bytes_ += more.bytes_; }

  Iterator begin() const { return Iterator(bytes_.data()); }
  Iterator end() const { return Iterator(bytes_.data() + bytes_.size()); }

  struct Hash {
    std::size_t operator()(const Labels& labels) const {
      return std::hash<std::string_view>()(labels.bytes_);
    }
  };

  bool operator==(const Labels& other) const = default;
  std::strong_ordering operator<=>(const Labels& other) const {
    return std::lexicographical_compare_three_way(begin(), end(), other.begin(), other.end());
  }

 private:
  std::string bytes_;  // of each label its sizes, its name and its value
};

}  // namespace trainwatch
