// SPDX-License-Identifier: Apache-2.0
// The traces of incidents, on disk: they outlive the files of the job. One file per alert; the
// oldest go when there is no room. For one thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "trainwatch/result.h"
#include "trainwatch/time.h"

namespace trainwatch {

class IncidentTraces {
 public:
  struct Limits {
    std::uint64_t bytes = 0;
    Nanos age{};
  };

  IncidentTraces(std::string directory, Limits limits)
      : directory_(std::move(directory)), limits_(limits) {}

  // Makes the directory, which a sandbox may not. Without it every write fails.
  Status prepare() const;
  // Compressed; nullopt: there is none.
  std::optional<std::string> read(const std::string& id) const;
  // Replaces it as a whole, and makes room.
  Status write(const std::string& id, std::string_view compressed);

 private:
  std::string path_of(const std::string& id) const;
  void make_room() const;

  std::string directory_;
  Limits limits_;
};

}  // namespace trainwatch
