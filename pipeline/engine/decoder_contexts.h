// SPDX-License-Identifier: Apache-2.0
// The saved decoder states of finished files: time base, names of phases, a truncated record. A
// file that grows again continues with its state.
//
// Bounded: a state that is too large or does not fit is not kept, and its file must not be decoded
// without it. Large states may use half of the memory only.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "trainwatch/diagnostics.h"

namespace trainwatch {

class DecoderContexts {
 public:
  struct Limits {
    std::size_t of_file = std::size_t{256}
                          << 10U;              // a compressed file inside a member takes 90 KiB
    std::size_t all = std::size_t{32} << 20U;  // a timeline of a few phases takes 0.4 KiB
  };

  explicit DecoderContexts(Limits limits) : limits_(limits) {}

  // The state of the file's decoder, in place of what was kept, if there is room for it.
  void keep(FileId file, std::string state) {
    drop(file);
    const std::size_t room = state.size() > kSmall ? limits_.all / 2 : limits_.all;
    if (state.size() > limits_.of_file || bytes_ + state.size() > room) return;
    state.shrink_to_fit();
    bytes_ += state.size();
    states_.emplace(file, std::move(state));
  }
  // Empty: nothing is kept.
  const std::string& of(FileId file) const {
    static const std::string kNothing;
    const auto found = states_.find(file);
    return found == states_.end() ? kNothing : found->second;
  }
  void drop(FileId file) {
    const auto found = states_.find(file);
    if (found == states_.end()) return;
    bytes_ -= found->second.size();
    states_.erase(found);
  }

  std::size_t bytes() const { return bytes_; }

 private:
  static constexpr std::size_t kSmall = 4096;

  Limits limits_;
  std::map<FileId, std::string> states_;
  std::size_t bytes_ = 0;
};

}  // namespace trainwatch
