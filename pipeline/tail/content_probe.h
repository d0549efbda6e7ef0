// SPDX-License-Identifier: Apache-2.0
// How the tailer asks what is in a file whose name does not say it. The answer is the caller's:
// nothing here knows a format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "trainwatch/subject.h"

namespace trainwatch {

// What one record says, to compare two files.
struct HeadRecord {
  static constexpr std::size_t kMostValues = 6;

  struct Value {
    std::size_t tag = 0;  // a hash of its name
    double value = 0;     // as printed; may be NaN
  };

  std::int64_t step = 0;
  std::int64_t at_ns = 0;     // Unix time
  bool timed = false;         // the record has its own time
  std::vector<Value> values;  // the loss first, if there is one; at least one, at most kMostValues
};

struct HeadContent {
  static constexpr std::size_t kMostRecords = 16;

  enum class Answer : std::uint8_t {
    no,       // never anything of ours: no text
    nothing,  // nothing of ours so far; more bytes may show it
    yes,
  };
  Answer answer = Answer::nothing;
  std::string job;                  // as the path says
  std::int32_t rank = kNoRank;      // of the first record
  std::vector<HeadRecord> records;  // the first ones that have a step and a value
};

// One look at the beginning of one file.
class ContentLook {
 public:
  virtual ~ContentLook() = default;
  // The next bytes. False: more would change nothing.
  virtual bool feed(std::string_view bytes) = 0;
  // Call once, last.
  virtual HeadContent content() = 0;
};

// Begins a look at the file with this path. Empty: nobody asks, and names alone decide.
using ContentProbe = std::function<std::unique_ptr<ContentLook>(const std::string& path)>;

}  // namespace trainwatch
