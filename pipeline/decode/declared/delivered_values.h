// SPDX-License-Identifier: Apache-2.0
// What was emitted of a file that its writer may write anew as a whole, as Lightning does when
// there is a new column: what the new content repeats is not emitted again.
//
// Per column the values are compared one after another, by hashes of step and text. The first that
// differs shows that the content is another one, and all that follows is new. Beyond kMostHashes
// values of a file only their number counts.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainwatch/state_io.h"

namespace trainwatch {

class DeliveredValues {
 public:
  static constexpr std::size_t kMostHashes = 16384;  // 64 KiB
  static constexpr std::size_t kMostColumns = 256;

  // Call for every value, in the order of the file. False: it was emitted before.
  bool is_new(std::string_view column, std::int64_t step, std::string_view text);

  // The file begins anew: what follows is compared with `former`, as state() saved it.
  void begin_anew(const std::string& former);
  // For begin_anew() of the next content.
  std::string known() const;

  void state(StateIo& io);

 private:
  struct Column {
    std::uint64_t values = 0;
    std::vector<std::uint32_t> hashes;  // of the first ones

    void state(StateIo& io) {
      io(values);
      io(hashes);
      if (hashes.size() > values) io.fail();
    }
  };
  using Columns = std::map<std::string, Column, std::less<>>;

  static void columns_state(StateIo& io, Columns& columns);

  Columns now_;
  Columns former_;  // empty: this content is the first
  std::size_t hashes_ = 0;
};

}  // namespace trainwatch
