// SPDX-License-Identifier: Apache-2.0
// An expected failure is a value: Result<T> is either a T or an Error that says, to a person, what
// went wrong. Exceptions are for start-up only.
#pragma once

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace trainwatch {

struct Error {
  std::string message;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return ok(); }

  T& value() {
    assert(ok());
    return std::get<T>(state_);
  }
  const T& value() const {
    assert(ok());
    return std::get<T>(state_);
  }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const {
    assert(!ok());
    return std::get<Error>(state_);
  }

 private:
  std::variant<T, Error> state_;
};

// For operations that only succeed or fail.
using Status = Result<std::monostate>;
inline Status success() {
  return std::monostate{};
}

}  // namespace trainwatch
