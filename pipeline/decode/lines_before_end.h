// SPDX-License-Identifier: Apache-2.0
// The state of a line decoder from before its file was finished, so that a truncated last line can
// be completed if the file grows again.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "pipeline/decode/byte_account.h"
#include "pipeline/decode/line_splitter.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

class LinesBeforeEnd {
 public:
  // Takes the rest of `lines` and calls read(rest), which may change `account` and `records`. If it
  // produced records, the rest is not kept, so that nothing is read twice.
  template <class Read>
  void finish(LineSplitter& lines, ByteAccount& account, const std::uint64_t& records,
              Read&& read) {
    if (!lines.mid_line()) return;
    const std::uint64_t records_before = records;
    before_ = std::make_unique<Before>(Before{lines, account});
    read(lines.take_rest());
    if (records != records_before) before_.reset();
  }

  // Call before more bytes are read or bytes are taken back.
  void go_on(LineSplitter& lines, ByteAccount& account) {
    if (before_ == nullptr) return;
    lines = std::move(before_->lines);
    account = before_->account;
    before_.reset();
  }

  // Saves or loads both, as they were before the end.
  void state(StateIo& io, LineSplitter& lines, ByteAccount& account) {
    Before* const before = before_.get();
    io(before != nullptr ? before->lines : lines);
    io(before != nullptr ? before->account : account);
  }

 private:
  struct Before {
    LineSplitter lines;
    ByteAccount account;
  };

  std::unique_ptr<Before> before_;  // null: nothing to go back to
};

}  // namespace trainwatch
