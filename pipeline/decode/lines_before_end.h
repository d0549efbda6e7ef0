// Where a decoder of lines stood before its file was finished. If the file grows all the same, the
// line that the end cut off goes on.
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
  // Takes the rest of `lines` and calls read(rest), which may change `account` and `records`. What
  // it made records of is not read again.
  template <class Read>
  void finish(LineSplitter& lines, ByteAccount& account, const std::uint64_t& records,
              Read&& read) {
    if (!lines.mid_line()) return;
    const std::uint64_t records_before = records;
    before_ = std::make_unique<Before>(Before{lines, account});
    read(lines.take_rest());
    if (records != records_before) before_.reset();
  }

  // More comes, or the writer takes something back.
  void go_on(LineSplitter& lines, ByteAccount& account) {
    if (before_ == nullptr) return;
    lines = std::move(before_->lines);
    account = before_->account;
    before_.reset();
  }

  // Of both, as they will go on.
  void state(StateIo& io, LineSplitter& lines, ByteAccount& account) {
    io(before_ != nullptr ? before_->lines : lines);
    io(before_ != nullptr ? before_->account : account);
  }

 private:
  struct Before {
    LineSplitter lines;
    ByteAccount account;
  };

  std::unique_ptr<Before> before_;  // null: the end changed nothing, or more came since
};

}  // namespace trainwatch
