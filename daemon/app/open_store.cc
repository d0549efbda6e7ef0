// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/open_store.h"

#include <cstdint>
#include <cstdio>
#include <random>
#include <string>

#include "daemon/exit_code.h"
#include "daemon/version.h"
#include "pipeline/state/sqlite_store.h"

namespace trainwatch {
namespace {

// A random (version 4) UUID, for naming an epoch.
std::string random_uuid() {
  std::random_device random;
  const auto word = [&random] {
    return (std::uint64_t{random()} << 32U) | std::uint64_t{random()};
  };
  const std::uint64_t high = (word() & ~0xF000ULL) | 0x4000ULL;
  const std::uint64_t low = (word() & ~(3ULL << 62U)) | (2ULL << 62U);
  char text[40];
  std::snprintf(text, sizeof text, "%08x-%04x-%04x-%04x-%012llx",
                static_cast<unsigned>(high >> 32U), static_cast<unsigned>((high >> 16U) & 0xFFFFU),
                static_cast<unsigned>(high & 0xFFFFU), static_cast<unsigned>(low >> 48U),
                static_cast<unsigned long long>(low & 0xFFFFFFFFFFFFULL));
  return text;
}

int exit_code_of(OpenFailure::Why why) {
  using Why = OpenFailure::Why;
  switch (why) {
    case Why::in_use:
      return exit_code::in_use;
    case Why::newer:
    case Why::not_ours:
    case Why::not_local:
      return exit_code::bad_config;
    case Why::unusable:
      break;
  }
  return exit_code::failed;
}

}  // namespace

std::variant<OpenedStore, StartFailure> open_store(const StorageConfig& config) {
  SqliteStoreOptions options;
  options.directory = config.path;
  options.new_epoch = random_uuid();
  options.writer = version();
  options.retention = config.retention;
  options.allow_network = config.allow_network;
  auto opened = SqliteStore::open(std::move(options));
  if (const auto* failure = std::get_if<OpenFailure>(&opened)) {
    return StartFailure{exit_code_of(failure->why), failure->message};
  }
  auto& store = std::get<std::unique_ptr<SqliteStore>>(opened);
  OpenedStore result{nullptr, store->lost(), store->repaired(), store->notes()};
  result.store = std::move(store);
  return result;
}

}  // namespace trainwatch
