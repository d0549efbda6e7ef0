// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/ends/failure_table.h"

#include <charconv>
#include <utility>

#include "pipeline/decode/declared/scalar_text.h"
#include "pipeline/decode/ends/end_line.h"
#include "pipeline/decode/evidence_text.h"

namespace trainwatch {
namespace {

constexpr std::uint32_t kMostTableLines = 4096;

std::optional<std::int64_t> table_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failure == std::errc{} ? std::optional(number) : std::nullopt;
}

// The value of the row; empty: another one.
std::string_view value_of(std::string_view message, std::string_view row) {
  return message.starts_with(row) ? message.substr(row.size()) : std::string_view{};
}

}  // namespace

bool FailureTable::begins(std::string_view message) {
  return find_text(message, "Root Cause (first observed failure)") != std::string_view::npos;
}

void FailureTable::begin() {
  *this = {};
  lines_ = 1;
  end_.weight = EndWeight::root;
}

bool FailureTable::add(std::string_view message, std::optional<Time> at) {
  ++lines_;
  if (message.starts_with("=====") || lines_ > kMostTableLines) return true;
  if (const auto host = value_of(message, "  host      : "); !host.empty()) end_.node = host;
  if (message.starts_with("  time      : ") && at) {
    timed_ = true;
    at_ = *at;
  }
  if (const auto rank = table_number(value_of(message, "  rank      : "));
      rank && *rank >= 0 && *rank < (1 << 24)) {
    end_.rank = static_cast<std::int32_t>(*rank);
    known_ = true;
  }
  if (const auto code = table_number(value_of(message, "  exitcode  : "))) {
    EndLine line;
    set_exit_code(line, *code);
    end_.what = line.what;
    end_.signal = line.signal;
    end_.exit_code = line.exit_code;
    known_ = true;
  }
  read_traceback(message);
  return false;
}

// What a worker left in its error file, indented by two: its exception comes last.
void FailureTable::read_traceback(std::string_view message) {
  if (message.starts_with("  traceback : ")) {
    in_traceback_ = true;
    end_.text = evidence_text(message);
    return;
  }
  if (!in_traceback_ || !message.starts_with("  ")) return;
  message.remove_prefix(2);
  if (!is_exception_line(message, false)) return;
  end_.text = evidence_text(message);
  if (const auto line = read_end_line(message)) {
    end_.what = line->what;
  } else {
    end_.what = EndClass::exception;
  }
}

std::optional<RootCause> FailureTable::take() {
  RootCause cause;
  if (timed_) cause.at = at_;
  cause.end = std::move(end_);
  const bool known = known_;
  *this = {};
  return known ? std::optional(std::move(cause)) : std::nullopt;
}

void FailureTable::state(StateIo& io) {
  io(lines_);
  io(in_traceback_);
  io(known_);
  io(timed_);
  io(at_);
  io(end_);
  if (!is_possible(at_)) io.fail();
}

}  // namespace trainwatch
