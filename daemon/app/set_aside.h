// SPDX-License-Identifier: Apache-2.0
// Files that are not read any more, because the last two starts of trainwatch died while they
// decoded the same bytes of them. Whatever killed the process, a signal, an exception or the kernel
// for its memory, would kill it at every start, and every other job of the node would be blind.
//
// A file is tried again by another version of trainwatch, when somebody asks for it, and once it
// was truncated to less than what killed.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/tail/file_system.h"

namespace trainwatch {

// The note of the store that has saved().
inline constexpr std::string_view kSetAsideNote = "set_aside";

class SetAside {
 public:
  static constexpr std::size_t kMost = 1024;  // the oldest is forgotten

  // Bytes of a file that were being decoded when the process died.
  struct Death {
    std::string path;
    FileIdentity identity;
    std::uint64_t from = 0;
    std::uint64_t to = 0;
  };

  // Before start: as saved() by the last process; what is damaged, or of another version, is
  // forgotten.
  void load(std::string_view version, std::string_view saved);
  // Once at the start: what the last process died of. Returns the files that are set aside now, and
  // were not before.
  std::vector<std::string> died(const std::vector<Death>& deaths);
  std::string saved(std::string_view version) const;

  // Below: any thread.

  // Why the file is not read; nullopt: it is.
  std::optional<std::string> reason(const FileIdentity& file, std::uint64_t size) const;
  bool empty() const;
  // All of them are tried again.
  void forget();

 private:
  struct Entry {
    Death death;
    bool twice = false;  // so the file is set aside
  };

  mutable std::mutex mutex_;
  std::vector<Entry> entries_;  // the oldest first
};

}  // namespace trainwatch
