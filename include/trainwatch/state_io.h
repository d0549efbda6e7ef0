// SPDX-License-Identifier: Apache-2.0
// Saving and restoring state with one function. A class lists its fields once:
//
//     void state(StateIo& io) { io(window_); io(count_); }
//
// and the same list writes the fields or reads them back. An aggregate needs no such function.
// Loading never trusts the bytes: lengths are checked, and after the first mismatch ok() is false
// and every further field keeps its value.
//
// Ids are translated to those of today (SavedIds). An element of a container, or an optional value,
// that contains an id that is gone is left out; elsewhere the loading function asks take_gone().
#pragma once

#include <algorithm>
#include <array>
#include <boost/pfr/core.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "trainwatch/saved_ids.h"

namespace trainwatch {

class StateIo {
 public:
  static StateIo saving() { return StateIo{false, {}}; }
  // Saves nothing, and counts what it would be, with about the memory that containers add.
  static StateIo counting() {
    StateIo io{false, {}};
    io.counting_ = true;
    return io;
  }
  // `bytes` and `ids` must outlive the object. Null: every id is what it was.
  static StateIo loading(std::string_view bytes, SavedIds* ids = nullptr) {
    StateIo io{true, bytes};
    io.ids_ = ids;
    return io;
  }

  bool is_loading() const { return loading_; }
  bool ok() const { return ok_; }
  // True if a load used up exactly all bytes, and nothing in them is gone.
  bool complete() const { return ok_ && in_.empty() && !gone_; }
  // True if an id is gone that was loaded since the last call.
  bool take_gone() { return std::exchange(gone_, false); }
  std::string take() {
    out_.resize(std::exchange(written_, 0));
    return std::move(out_);
  }
  // Bytes.
  std::size_t counted() const { return counted_; }
  // What was saved so far; valid until more is.
  std::string_view saved() const { return std::string_view(out_).substr(0, written_); }
  // Saves another state into the memory of the last one, whose bytes are lost.
  void begin_again() {
    written_ = 0;
    ok_ = true;
  }
  // Makes room for so many bytes in all, where a state is known to be large.
  void reserve(std::size_t bytes) {
    if (bytes > out_.size()) out_.resize(bytes);
  }
  // For a state() function that finds an impossible value.
  void fail() { ok_ = false; }

  template <class T>
  void operator()(T& field) {
    if constexpr (requires { field.state(*this); }) {
      field.state(*this);
    } else if constexpr (requires { field.persist(*this); }) {  // has a field `state`
      field.persist(*this);
    } else if constexpr (std::is_same_v<T, bool>) {  // any byte but 0 and 1 is invalid
      std::uint8_t byte = field ? 1 : 0;
      number(byte);
      if (byte > 1) ok_ = false;
      if (ok_) field = byte == 1;
    } else if constexpr (requires(SavedIds & ids) { ids.translate(field); }) {
      number(field);
      if (loading_ && ok_ && ids_ != nullptr) translate(field);
    } else if constexpr (is_number<T>()) {
      number(field);
    } else {
      static_assert(std::is_aggregate_v<T>, "the class needs a function state()");
      boost::pfr::for_each_field(field, [this](auto& part) { (*this)(part); });
    }
  }
  template <class T, std::size_t kSize>
  void operator()(std::array<T, kSize>& field) {
    if constexpr (is_raw<T>()) {
      raw(field.data(), sizeof field);
    } else {
      for (T& element : field) (*this)(element);
    }
  }
  void operator()(std::string& field) {
    const std::uint32_t n = length(field.size(), 1);
    if (loading_) {
      field.assign(in_.substr(0, n));
      in_.remove_prefix(n);
    } else {
      write(field.data(), n);
    }
  }
  template <class T>
  void operator()(std::vector<T>& field) {
    if constexpr (is_raw<T>()) {
      const std::uint32_t n = length(field.size(), sizeof(T));
      if (loading_) field.resize(n);
      if (n > 0) raw(field.data(), n * sizeof(T));
    } else {
      sequence(field);
    }
  }
  template <class T>
  void operator()(std::deque<T>& field) {
    sequence(field);
  }
  template <class T>
  void operator()(std::list<T>& field) {
    sequence(field);
  }
  template <class T>
  void operator()(std::optional<T>& field) {
    std::uint8_t present = field.has_value() ? 1 : 0;
    number(present);
    if (loading_ && ok_) {
      field.reset();
      if (present != 0) field.emplace();
    }
    const bool gone_before = take_gone();
    if (field) (*this)(*field);
    if (take_gone()) field.reset();
    gone_ = gone_before;
  }
  template <class A, class B>
  void operator()(std::pair<A, B>& field) {
    (*this)(field.first);
    (*this)(field.second);
  }
  template <class K, class V>
  void operator()(std::map<K, V>& field) {
    const std::uint32_t n = length(field.size(), 1);
    if (counting_) counted_ += n * (sizeof(std::pair<const K, V>) + kOfNode);
    if (!loading_) {
      for (auto& [key, value] : field) {
        K copy = key;
        (*this)(copy);
        (*this)(value);
      }
      return;
    }
    field.clear();
    const bool gone_before = take_gone();
    for (std::uint32_t i = 0; i < n && ok_; ++i) {
      K key{};
      (*this)(key);
      std::map<K, V> unused;
      std::map<K, V>& kept = take_gone() ? unused : field;
      const auto entry = kept.try_emplace(std::move(key)).first;
      (*this)(entry->second);
      if (take_gone()) kept.erase(entry);
    }
    gone_ = gone_before;
  }
  // The same for a vector whose index is an id.
  template <class Id, class T>
  void by_id(std::vector<T>& field) {
    const std::uint32_t n = length(field.size(), 1);
    if (!loading_) {
      for (T& value : field) (*this)(value);
      return;
    }
    field.clear();
    const bool gone_before = take_gone();
    for (std::uint32_t i = 0; i < n && ok_; ++i) {
      T value{};
      (*this)(value);
      auto id = static_cast<Id>(i);
      if (ids_ != nullptr) translate(id);
      if (take_gone() || !ok_) continue;
      const auto index = static_cast<std::size_t>(id);
      if (index >= field.size()) field.resize(index + 1);
      field[index] = std::move(value);
    }
    gone_ = gone_before;
  }

 private:
  static constexpr std::size_t kOfNode = 32;  // of a map

  StateIo(bool loading, std::string_view in) : loading_(loading), in_(in) {}

  // A number, or what is made of one: an enumeration, a duration, a time.
  template <class T>
  static constexpr bool is_number() {
    return std::is_arithmetic_v<T> || std::is_enum_v<T> || requires {
      typename T::rep;
    };
  }
  // A number of which any bytes are valid.
  template <class T>
  static constexpr bool is_raw() {
    constexpr bool is_id = requires(SavedIds & ids, T & id) {
      ids.translate(id);
    };
    return is_number<T>() && !is_id && !std::is_same_v<T, bool>;
  }
  template <class Id>
  void translate(Id& id) {
    switch (ids_->translate(id)) {
      case SavedIds::Fate::kept:
        return;
      case SavedIds::Fate::gone:
        id = {};
        gone_ = true;
        return;
      case SavedIds::Fate::invalid:
        id = {};
        ok_ = false;
    }
  }

  // A commit saves thousands of numbers: std::string::append() took 29 % of its instructions, and a
  // call for each of them ten times as many as storing it.
  template <class T>
  [[gnu::always_inline]] void number(T& field) {
    if (loading_) return raw(&field, sizeof field);
    write(&field, sizeof field);
  }
  [[gnu::always_inline]] void write(const void* data, std::size_t size) {
    if (size > out_.size() - written_ && !make_room(size)) return;
    std::memcpy(out_.data() + written_, data, size);
    written_ += size;
  }
  // False: it is only counted.
  [[gnu::noinline]] bool make_room(std::size_t size) {
    if (counting_) {
      counted_ += size;
      return false;
    }
    constexpr std::size_t kLeast = 256;
    constexpr std::size_t kMuch = std::size_t{1} << 20U;
    const std::size_t more = out_.size() < kMuch ? out_.size() : out_.size() / 4;
    out_.resize(std::max({out_.size() + more, written_ + size, kLeast}));
    return true;
  }
  void raw(void* data, std::size_t size) {
    if (!loading_) {
      write(data, size);
    } else if (ok_ && in_.size() >= size) {
      std::memcpy(data, in_.data(), size);
      in_.remove_prefix(size);
    } else {
      ok_ = false;
    }
  }
  // The element count; a loaded one is accepted only if that many elements can still follow.
  std::uint32_t length(std::size_t size, std::size_t least_element_size) {
    auto n = static_cast<std::uint32_t>(size);
    number(n);
    if (!ok_) return 0;
    if (loading_ && n > in_.size() / least_element_size) ok_ = false;
    return ok_ ? n : 0;
  }
  template <class C>
  void sequence(C& field) {
    const std::uint32_t n = length(field.size(), 1);
    if (counting_) counted_ += n * sizeof(typename C::value_type);
    if (!loading_) {
      for (auto& element : field) (*this)(element);
      return;
    }
    field.clear();
    const bool gone_before = take_gone();
    for (std::uint32_t i = 0; i < n && ok_; ++i) {
      (*this)(field.emplace_back());
      if (take_gone()) field.pop_back();
    }
    gone_ = gone_before;
  }

  bool loading_;
  bool ok_ = true;
  bool gone_ = false;
  SavedIds* ids_ = nullptr;
  std::string_view in_;
  std::string out_;  // the first written_ bytes of it
  std::size_t written_ = 0;
  bool counting_ = false;
  std::size_t counted_ = 0;
};

}  // namespace trainwatch
