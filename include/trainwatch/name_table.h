// SPDX-License-Identifier: Apache-2.0
// The names in one cycle, each stored once. Kernel names are long and differ from job to job, so
// they do not go into the interner, which lives as long as the job.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace trainwatch {

enum class NameId : std::uint32_t {};

class NameTable {
 public:
  NameTable() = default;
  NameTable(const NameTable&) = delete;  // names_ would point into the other table
  NameTable& operator=(const NameTable&) = delete;
  NameTable(NameTable&&) = default;
  NameTable& operator=(NameTable&&) = default;

  NameId intern(std::string_view name) {
    const auto known = ids_.find(name);
    if (known != ids_.end()) return known->second;
    const auto id = static_cast<NameId>(names_.size());
    names_.push_back(&ids_.try_emplace(std::string(name), id).first->first);
    return id;
  }
  std::optional<NameId> find(std::string_view name) const {
    const auto known = ids_.find(name);
    return known == ids_.end() ? std::nullopt : std::optional(known->second);
  }
  std::string_view text(NameId id) const { return *names_[static_cast<std::size_t>(id)]; }
  std::size_t size() const { return names_.size(); }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };

  std::unordered_map<std::string, NameId, Hash, std::equal_to<>> ids_;
  std::vector<const std::string*> names_;  // keys of ids_, which stay where they are
};

}  // namespace trainwatch
