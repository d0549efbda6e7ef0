// SPDX-License-Identifier: Apache-2.0
// A compressed file may repeat what was read of a plain one that was rotated and then compressed,
// or of a compressed one that was written anew with more. This compares its contents with those of
// the candidates and passes only what is new.
//
// Contents are held until the comparison is decided, up to kMostHeld: a difference that shows only
// beyond that costs the bytes before it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/tail/fingerprint.h"
#include "trainwatch/diagnostics.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

class PrefixDeduplicator {
 public:
  static constexpr std::size_t kMostHeld = std::size_t{16} << 20U;

  struct Candidate {
    FileId file{};
    Fingerprint read;
  };

  PrefixDeduplicator() = default;
  explicit PrefixDeduplicator(std::vector<Candidate> candidates)
      : candidates_(std::move(candidates)) {}

  // The comparison is decided: repeated() and take_rest() are valid.
  bool decided() const { return candidates_.empty() || repeated_.has_value(); }
  // Not decided yet, and `file` is still a candidate.
  bool may_repeat(FileId file) const;
  void feed(std::string_view contents);
  // What there is of the contents began like a candidate: if they end here, none of it is new.
  bool seems_repeated() const {
    return !candidates_.empty() && let_go_ + held_.size() >= Fingerprint::kBlock;
  }
  // The contents have ended. If they began like a candidate they are part of it, and not new.
  void finish();

  // The file whose contents are repeated; nullopt: all contents are new.
  std::optional<FileId> repeated() const { return repeated_; }
  // The new contents. Call once.
  std::string take_rest() { return std::exchange(held_, {}); }
  // Bytes that were dropped before they turned out to be new.
  std::uint64_t lost() const { return lost_; }

  void state(StateIo& io);

 private:
  void compare();

  std::vector<Candidate> candidates_;  // still possible; shortest first
  Fingerprint seen_;
  std::string held_;
  std::uint64_t let_go_ = 0;  // bytes before held_
  std::uint64_t lost_ = 0;
  std::optional<FileId> repeated_;
};

}  // namespace trainwatch
