// SPDX-License-Identifier: Apache-2.0
// Values by subject, in the order of a std::map, whose entries stay where they are. The subject
// that was looked up last is remembered, whether it has a value or not: the events of a file come
// together, and with hundreds of ranks each level of a map is a cache miss.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <utility>

#include "trainwatch/state_io.h"
#include "trainwatch/subject.h"

namespace trainwatch {

template <class Value>
class SubjectMap {
  using Map = std::map<SubjectId, Value>;

 public:
  using value_type = typename Map::value_type;

  // Null: it has no value.
  Value* find(SubjectId subject) {
    if (latest_.subject != subject) {
      const auto known = values_.find(subject);
      latest_.note(subject, known == values_.end() ? nullptr : &*known);
    }
    return latest_.entry == nullptr ? nullptr : &latest_.entry->second;
  }
  const Value* find(SubjectId subject) const {
    const auto known = values_.find(subject);
    return known == values_.end() ? nullptr : &known->second;
  }
  bool contains(SubjectId subject) const { return values_.contains(subject); }
  // Made if it is new.
  value_type& entry(SubjectId subject) {
    if (latest_.subject != subject || latest_.entry == nullptr) {
      latest_.note(subject, &*values_.try_emplace(subject).first);
    }
    return *latest_.entry;
  }
  Value& operator[](SubjectId subject) { return entry(subject).second; }

  auto begin() { return values_.begin(); }
  auto end() { return values_.end(); }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }
  std::size_t size() const { return values_.size(); }
  bool empty() const { return values_.empty(); }
  void clear() {
    latest_ = {};
    values_.clear();
  }
  void state(StateIo& io) {
    latest_ = {};
    io(values_);
  }

 private:
  // Of another map it says nothing.
  struct Latest {
    Latest() = default;
    Latest(const Latest&) {}
    Latest(Latest&& other) noexcept { other.forget(); }
    Latest& operator=(const Latest& other) {
      if (this != &other) forget();
      return *this;
    }
    Latest& operator=(Latest&& other) noexcept {
      forget();
      other.forget();
      return *this;
    }
    ~Latest() = default;
    void note(SubjectId of, value_type* its_entry) {
      subject = of;
      entry = its_entry;
    }
    void forget() {
      subject.reset();
      entry = nullptr;
    }

    std::optional<SubjectId> subject;
    value_type* entry = nullptr;  // null: it has none
  };

  Map values_;
  Latest latest_;
};

}  // namespace trainwatch
