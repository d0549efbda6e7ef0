// SPDX-License-Identifier: Apache-2.0
// An SqliteStore that is expected to open, or the reason why it does not.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "pipeline/state/sqlite_store.h"

namespace trainwatch::test {

inline SqliteStoreOptions store_options(const std::string& directory,
                                        const std::string& new_epoch = "epoch-1") {
  return {directory, new_epoch, "test"};
}

// None, and a failed test, when it does not open.
inline std::unique_ptr<SqliteStore> open_store(const SqliteStoreOptions& options) {
  auto opened = SqliteStore::open(options);
  if (const auto* failure = std::get_if<OpenFailure>(&opened)) {
    ADD_FAILURE() << failure->message;
    return nullptr;
  }
  return std::get<std::unique_ptr<SqliteStore>>(std::move(opened));
}

// A failed test when it does open.
inline OpenFailure refusal(const SqliteStoreOptions& options) {
  auto opened = SqliteStore::open(options);
  if (auto* failure = std::get_if<OpenFailure>(&opened)) return std::move(*failure);
  ADD_FAILURE() << "opened";
  return {};
}

}  // namespace trainwatch::test
