// SPDX-License-Identifier: Apache-2.0
// Opens the state directory of the configuration.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "daemon/config/config.h"
#include "pipeline/state/state_store.h"

namespace trainwatch {

struct OpenedStore {
  std::unique_ptr<StateStore> store;
  std::string lost;                  // what had to be set aside; empty: nothing
  std::string repaired;              // empty: nothing
  std::vector<std::string> notes{};  // about the directory
};

struct StartFailure {
  int exit_code = 1;
  std::string message;
};

std::variant<OpenedStore, StartFailure> open_store(const StorageConfig& config);

}  // namespace trainwatch
