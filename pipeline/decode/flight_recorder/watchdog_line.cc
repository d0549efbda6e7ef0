// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/flight_recorder/watchdog_line.h"

#include <algorithm>
#include <charconv>

namespace trainwatch {
namespace {

constexpr std::size_t kMostWatchdogName = 128;  // bytes of a group or an operation
constexpr std::int64_t kMostMs = std::int64_t{400} * 24 * 3600 * 1000;

// Reads one thing after the other; a failure stays.
class WatchdogCursor {
 public:
  explicit WatchdogCursor(std::string_view text) : text_(text) {}

  // Behind the next place with this text.
  bool find(std::string_view text) {
    const auto at = text_.find(text);
    if (at == std::string_view::npos) return false;
    text_.remove_prefix(at + text.size());
    return true;
  }
  bool skip(std::string_view text) {
    if (!text_.starts_with(text)) return false;
    text_.remove_prefix(text.size());
    return true;
  }
  std::optional<std::int64_t> number() {
    std::int64_t value = 0;
    const auto [end, failure] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (failure != std::errc{}) return std::nullopt;
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    return value;
  }
  // Up to one of these; it stays.
  std::string_view until(std::string_view ends) {
    const std::size_t end = std::min(text_.find_first_of(ends), text_.size());
    const std::string_view word = text_.substr(0, end);
    text_.remove_prefix(end);
    return word;
  }
  std::string_view rest() const { return text_; }

 private:
  std::string_view text_;
};

std::int32_t watchdog_rank(WatchdogCursor& cursor) {
  const auto rank = cursor.number();
  return rank && *rank >= 0 && *rank < (1 << 24) ? static_cast<std::int32_t>(*rank) : kNoRank;
}

// "[rank5]:", of the whole job.
std::int32_t rank_before(std::string_view prefix) {
  const auto at = prefix.rfind("[rank");
  if (at == std::string_view::npos) return kNoRank;
  WatchdogCursor cursor(prefix.substr(at + 5));
  const std::int32_t rank = watchdog_rank(cursor);
  return cursor.skip("]:") ? rank : kNoRank;
}

// "[Rank 5]", "[PG 0 Rank 5]", "[PG 0 (default_pg) Rank 5]", "[PG ID 0 PG GUID 0(default_pg) Rank
// 5]". The number behind "PG ID" differs between ranks; the name is the other one.
void read_owner(std::string_view text, WatchdogLine& line) {
  WatchdogCursor cursor(text);
  if (!cursor.find("[")) return;
  if (cursor.skip("PG ID ")) {
    if (!cursor.number() || !cursor.skip(" PG GUID ")) return;
    line.group = cursor.until("(] ").substr(0, kMostWatchdogName);
  } else if (cursor.skip("PG ")) {
    line.group = cursor.until("(] ").substr(0, kMostWatchdogName);
  }
  cursor.skip(" ");
  if (cursor.skip("(")) {
    line.description = cursor.until(")").substr(0, kMostWatchdogName);
    cursor.skip(")");
  }
  cursor.skip(" ");
  if (cursor.skip("Rank ")) line.group_rank = watchdog_rank(cursor);
}

// "WorkNCCL(SeqNum=6, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=1800000) ran for 1800519
// milliseconds"; until 1.13 without the number, from 1.12 to 2.0 with "TensorShape=[1, 3]".
bool read_timeout(WatchdogCursor cursor, WatchdogLine& line) {
  line.kind = WatchdogLine::Kind::timeout;
  if (!cursor.find("WorkNCCL(")) return false;
  if (cursor.skip("SeqNum=")) {
    const auto sequence = cursor.number();
    if (!sequence || *sequence < 0 || !cursor.skip(", ")) return false;
    line.sequence = *sequence;
  }
  if (!cursor.skip("OpType=")) return false;
  line.operation = cursor.until(",)").substr(0, kMostWatchdogName);
  if (cursor.skip(", NumelIn=")) {
    line.elements_in = cursor.number().value_or(-1);
    if (!cursor.skip(", NumelOut=")) return false;
    line.elements_out = cursor.number().value_or(-1);
  }
  if (cursor.skip(", TensorShape=[") && !cursor.find("]")) return false;
  if (!cursor.skip(", Timeout(ms)=")) return false;
  const auto timeout = cursor.number();
  if (!cursor.skip(") ran for ")) return false;
  const auto ran = cursor.number();
  const auto possible = [](const std::optional<std::int64_t>& ms) {
    return ms && *ms >= 0 && *ms <= kMostMs;
  };
  if (!possible(timeout) || !possible(ran) || !cursor.skip(" milliseconds")) return false;
  line.timeout_ms = *timeout;
  line.ran_ms = *ran;
  return !line.operation.empty();
}

// "last enqueued work: 5, last completed work: 4", with "NCCL" before "work" until 2.5.
bool read_progress(WatchdogCursor cursor, WatchdogLine& line) {
  line.kind = WatchdogLine::Kind::progress;
  const auto work = [&cursor] { return cursor.skip("NCCL work: ") || cursor.skip("work: "); };
  if (!cursor.find("ast enqueued ") || !work()) return false;
  const auto enqueued = cursor.number();
  if (!enqueued || !cursor.skip(", last completed ") || !work()) return false;
  const auto completed = cursor.number();
  if (!completed || *enqueued < -1 || *completed < -1 || *completed > *enqueued) return false;
  line.enqueued = *enqueued;
  line.completed = *completed;
  return true;
}

// "detected by watchdog at work sequence id: 5 PG status: ..." or "... at work: 5, ..."
void read_failed(WatchdogCursor cursor, WatchdogLine& line) {
  if (!cursor.find("detected by watchdog at work")) return;
  cursor.skip(" sequence id");
  if (cursor.skip(": ")) line.sequence = std::max<std::int64_t>(cursor.number().value_or(-1), -1);
}

}  // namespace

void WatchdogLine::state(StateIo& io) {
  io(kind);
  io(rank);
  io(group_rank);
  io(at);
  io(group);
  io(description);
  io(operation);
  io(sequence);
  io(elements_in);
  io(elements_out);
  io(timeout_ms);
  io(ran_ms);
  io(enqueued);
  io(completed);
  const bool possible = kind <= Kind::stuck && rank >= kNoRank && is_possible(at) &&
                        timeout_ms >= 0 && timeout_ms <= kMostMs && ran_ms >= 0 &&
                        ran_ms <= kMostMs;
  if (!possible) io.fail();
}

std::optional<WatchdogLine> parse_watchdog_line(std::string_view text) {
  const auto source = text.find(kWatchdogLiteral);
  if (source == std::string_view::npos) return std::nullopt;
  WatchdogCursor cursor(text.substr(source + kWatchdogLiteral.size()));
  if (!cursor.number() || !cursor.skip("]")) return std::nullopt;
  const std::string_view message = cursor.rest();
  WatchdogLine line;
  line.rank = rank_before(text.substr(0, source));
  read_owner(message, line);
  if (message.find("Watchdog caught collective operation timeout: ") != std::string_view::npos) {
    if (!read_timeout(WatchdogCursor(message), line)) return std::nullopt;
    return line;
  }
  if (message.find("watchdog got stuck for ") != std::string_view::npos) {
    line.kind = WatchdogLine::Kind::stuck;
    return line;
  }
  const bool reports = message.find("detected by watchdog at work") != std::string_view::npos ||
                       message.find("Received a dump signal") != std::string_view::npos;
  if (!reports || !read_progress(WatchdogCursor(message), line)) return std::nullopt;
  read_failed(WatchdogCursor(message), line);
  return line;
}

std::string watchdog_clock(std::string_view text) {
  const auto source = text.find(kWatchdogLiteral);
  if (source == std::string_view::npos || source == 0) return {};
  const std::string_view prefix = text.substr(0, source);
  const auto open = prefix.rfind('[');
  if (open == std::string_view::npos || prefix.size() < open + 6) return {};
  // A severity, the month, and two digits for the day.
  std::string_view rest = prefix.substr(open + 2);
  const std::size_t digits = std::min(rest.find(' '), rest.size());
  if (digits < 3 || digits > 4 || rest.find_first_not_of("0123456789") < digits) return {};
  const std::string_view clock = rest.substr(digits + 1);
  const std::size_t end = std::min(clock.find(' '), clock.size());
  if (end < 8) return {};
  return std::string(rest.substr(0, digits - 2)) + "-" + std::string(rest.substr(digits - 2, 2)) +
         " " + std::string(clock.substr(0, end));
}

}  // namespace trainwatch
