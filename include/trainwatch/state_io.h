// Saving and restoring state with one function. A class lists its fields once:
//
//     void state(StateIo& io) { io(window_); io(count_); }
//
// and the same list writes the fields or reads them back. Loading never trusts the bytes: lengths
// are checked, and after the first mismatch ok() is false and every further field keeps its value.
#pragma once

#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace trainwatch {

class StateIo {
 public:
  static StateIo saving() { return StateIo{false, {}}; }
  // The same into the memory of `reused`, whose content is lost.
  static StateIo saving(std::string reused) {
    StateIo io{false, {}};
    io.out_ = std::move(reused);
    io.out_.clear();
    return io;
  }
  // `bytes` must outlive the object.
  static StateIo loading(std::string_view bytes) { return StateIo{true, bytes}; }

  bool is_loading() const { return loading_; }
  bool ok() const { return ok_; }
  // True if a load used up exactly all bytes.
  bool complete() const { return ok_ && in_.empty(); }
  std::string take() { return std::move(out_); }
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
      raw(&byte, sizeof byte);
      if (byte > 1) ok_ = false;
      if (ok_) field = byte == 1;
    } else {
      static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>);
      raw(&field, sizeof field);
    }
  }
  void operator()(std::string& field) {
    const std::uint32_t n = length(field.size(), 1);
    if (loading_) field.assign(in_.substr(0, n));
    if (loading_) in_.remove_prefix(n);
    if (!loading_) out_.append(field);
  }
  template <class T>
  void operator()(std::vector<T>& field) {
    sequence(field);
  }
  template <class T>
  void operator()(std::deque<T>& field) {
    sequence(field);
  }
  template <class T>
  void operator()(std::optional<T>& field) {
    std::uint8_t present = field.has_value() ? 1 : 0;
    (*this)(present);
    if (loading_ && ok_) {
      field.reset();
      if (present != 0) field.emplace();
    }
    if (field) (*this)(*field);
  }
  template <class A, class B>
  void operator()(std::pair<A, B>& field) {
    (*this)(field.first);
    (*this)(field.second);
  }
  template <class K, class V>
  void operator()(std::map<K, V>& field) {
    const std::uint32_t n = length(field.size(), 1);
    if (!loading_) {
      for (auto& [key, value] : field) {
        K copy = key;
        (*this)(copy);
        (*this)(value);
      }
      return;
    }
    field.clear();
    for (std::uint32_t i = 0; i < n && ok_; ++i) {
      K key{};
      (*this)(key);
      (*this)(field[std::move(key)]);
    }
  }

 private:
  StateIo(bool loading, std::string_view in) : loading_(loading), in_(in) {}

  void raw(void* data, std::size_t size) {
    if (!loading_) {
      out_.append(static_cast<const char*>(data), size);
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
    raw(&n, sizeof n);
    if (!ok_) return 0;
    if (loading_ && n > in_.size() / least_element_size) ok_ = false;
    return ok_ ? n : 0;
  }
  template <class C>
  void sequence(C& field) {
    const std::uint32_t n = length(field.size(), 1);
    if (loading_) field.clear();
    for (std::uint32_t i = 0; i < n && ok_; ++i) {
      if (loading_) field.emplace_back();
      (*this)(field[i]);
    }
  }

  bool loading_;
  bool ok_ = true;
  std::string_view in_;
  std::string out_;
};

}  // namespace trainwatch
