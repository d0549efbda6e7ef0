// SPDX-License-Identifier: Apache-2.0
// A file of a format, in one piece and in many, with restarts between them.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "fuzz/fuzz_target.h"
#include "unit/decode/decode_harness.h"

namespace trainwatch::fuzz {

// The outcome is the same however the bytes are cut, and across restarts; and every byte is
// accounted for.
inline void expect_same_in_any_cut(const std::string& path, std::string_view input) {
  testing::DecodeRun whole{path};
  whole.feed(input);
  const testing::Outcome outcome = whole.finish();
  testing::DecodeRun pieces{path};
  for (std::size_t at = 0, size = 1; at < input.size(); at += size, size = size * 2 % 31 + 1) {
    pieces.feed(input.substr(at, size));
    if (size % 3 == 0) pieces.restart();
  }
  expect(pieces.finish() == outcome, "the outcome does not depend on the cuts");
  if (input.starts_with("\x1f\x8b")) return;  // its contents are counted
  const ByteAccount bytes = whole.decoder().bytes();
  expect(bytes.total() == input.size(), "every byte is accounted for");
  expect(pieces.decoder().bytes().total() == input.size(), "every byte of the pieces, too");
  if (outcome.format == "unknown") return;  // a file of another program is skipped silently
  const bool lost = bytes.skipped + bytes.rejected > 0;
  expect(!lost || !outcome.rejects.empty(), "what is lost is rejected");
}

}  // namespace trainwatch::fuzz
