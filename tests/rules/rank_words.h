// SPDX-License-Identifier: Apache-2.0
// A series line for several ranks: "LINE [but rank N OPTIONS]...".
#pragma once

#include <cstdint>
#include <map>

#include "rules/words.h"
#include "trainwatch/result.h"

namespace trainwatch::cases {

class RankWords {
 public:
  // An error where the line makes an exception for a rank outside first..last.
  static Result<RankWords> read(const Words& words, std::int32_t first, std::int32_t last);

  // The words of LINE, then the rank's own options: the last one of a name counts.
  Words of(std::int32_t rank) const;

 private:
  Words line_;
  std::map<std::int32_t, Words> exceptions_;
};

}  // namespace trainwatch::cases
