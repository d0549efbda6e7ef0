// SPDX-License-Identifier: Apache-2.0
// Inflates one gzip member as a stream. Two implementations: zlib, always available, and ISA-L,
// about three times as fast, where installed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "trainwatch/state_io.h"

namespace trainwatch {

class MemberInflater {
 public:
  enum class Outcome : std::uint8_t {
    more,  // needs input, or room for output
    end,   // header, data and trailer read, checksum right
    damaged,
  };

  virtual ~MemberInflater() = default;
  // Removes what it consumes from the front of `input`; `produced` is how much of `output` it
  // filled.
  virtual Outcome inflate(std::string_view& input, std::span<char> output,
                          std::size_t& produced) = 0;
  // Prepares for the next member.
  virtual void reset() = 0;
  virtual void state(StateIo& io) = 0;
};

std::unique_ptr<MemberInflater> make_zlib_inflater();
// Null when built without ISA-L.
std::unique_ptr<MemberInflater> make_isal_inflater();

}  // namespace trainwatch
