// The names of one cycle while its document is read, within a bound, with what its work is told by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/decode/work_class.h"
#include "trainwatch/name_table.h"

namespace trainwatch {

class CycleNames {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{8} << 20U;

  // Nothing: there is no room for one more name.
  std::optional<NameId> intern(std::string_view name) {
    if (const auto known = names_.find(name)) return known;
    if (bytes_ + name.size() > kMostBytes) return std::nullopt;
    bytes_ += name.size();
    facts_.push_back({work_class(name), is_launch(name)});
    return names_.intern(name);
  }
  WorkClass work(NameId name) const { return facts_[static_cast<std::size_t>(name)].work; }
  // Whether a call of this name launches work.
  bool launches(NameId name) const { return facts_[static_cast<std::size_t>(name)].launches; }

  NameTable take() { return std::move(names_); }

 private:
  struct Facts {
    WorkClass work{};
    bool launches = false;
  };

  NameTable names_;
  std::size_t bytes_ = 0;
  std::vector<Facts> facts_;  // by NameId
};

}  // namespace trainwatch
