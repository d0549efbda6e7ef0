// A compressed file may repeat what was read of a plain one that was rotated and then compressed:
// this compares its contents with those of the candidates and lets pass only what is new.
//
// What has been compared is held until it is decided, up to kMostHeld: with more, a difference that
// shows only after that costs the bytes before it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/tail/content_mark.h"
#include "trainwatch/diagnostics.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

class KnownBeginning {
 public:
  static constexpr std::size_t kMostHeld = std::size_t{16} << 20U;

  struct Candidate {
    FileId file{};
    ContentMark read;
    void state(StateIo& io) {
      io(file);
      io(read);
    }
  };

  KnownBeginning() = default;
  explicit KnownBeginning(std::vector<Candidate> candidates) : candidates_(std::move(candidates)) {}

  // True once the question is answered: repeated() and rest() hold then.
  bool decided() const { return candidates_.empty() || repeated_.has_value(); }
  // Not decided, and it may turn out to be this one.
  bool may_repeat(FileId file) const;
  void feed(std::string_view contents);
  // The contents end here. When they began like a candidate they are a part of it, and not new.
  void finish();

  // The file whose contents are repeated; none: all contents are new.
  std::optional<FileId> repeated() const { return repeated_; }
  // The contents that are new; to be taken once.
  std::string take_rest() { return std::move(held_); }
  // Contents that were let go before they turned out to be new.
  std::uint64_t lost() const { return lost_; }

  void state(StateIo& io);

 private:
  void compare();

  std::vector<Candidate> candidates_;  // that may still be it; nearest end first
  ContentMark seen_;
  std::string held_;
  std::uint64_t let_go_ = 0;  // bytes before held_
  std::uint64_t lost_ = 0;
  std::optional<FileId> repeated_;
};

}  // namespace trainwatch
