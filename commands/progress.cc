// SPDX-License-Identifier: Apache-2.0
#include "commands/progress.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "pipeline/engine/headline_text.h"

namespace trainwatch {
namespace {

constexpr auto kPlainEvery = std::chrono::seconds(1);

// "118 MB"
std::string bytes_words(double bytes) {
  const char* unit = " B";
  for (const char* const larger : {" kB", " MB", " GB", " TB"}) {
    if (bytes < 999.5) break;
    bytes /= 1000;
    unit = larger;
  }
  char text[32];
  std::snprintf(text, sizeof text, bytes < 9.95 && *(unit + 1) != 'B' ? "%.1f%s" : "%.0f%s", bytes,
                unit);
  return text;
}

double seconds_of(Progress::Clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

void Progress::found(std::uint64_t unread, Clock::time_point now) {
  if (!begun_) began_ = said_ = now;
  begun_ = true;
  total_ = read_ + unread;
}

bool Progress::is_due(Clock::time_point now) const {
  if (!wanted_ || total_ == 0) return false;
  return stream_.has_line() ? stream_.is_due(now) : now - said_ >= kPlainEvery;
}

void Progress::show_left(std::uint64_t unread, Clock::time_point now) {
  read_ = total_ - std::min(unread, total_);
  if (!is_due(now)) return;
  const double seconds = seconds_of(now - began_);
  if (stream_.has_line()) return stream_.show(text(seconds), now);
  said_ = now;
  stream_.print(text(seconds) + "\n");
}

// "[########............] 42 %, 118 MB/s, 12 s left"
std::string Progress::text(double seconds) const {
  constexpr std::size_t kBarWidth = 20;
  const double share = static_cast<double>(read_) / static_cast<double>(total_);
  const auto filled = static_cast<std::size_t>(share * kBarWidth);
  std::string bar = "[" + std::string(filled, '#') + std::string(kBarWidth - filled, '.') + "] ";
  bar += std::to_string(static_cast<int>(100 * share)) + " %";
  if (seconds <= 0 || read_ == 0) return bar;
  const double rate = static_cast<double>(read_) / seconds;
  const double left = std::ceil(static_cast<double>(total_ - read_) / rate);
  const std::string time = left < 10 ? std::to_string(static_cast<int>(left)) + " s"
                                     : duration_words(from_seconds(left));
  return bar + ", " + bytes_words(rate) + "/s, " + time + " left";
}

void Progress::finish(Clock::time_point now) {
  stream_.clear();
  if (!wanted_ || total_ == 0) return;
  const double seconds = seconds_of(now - began_);
  std::string line = "Read " + bytes_words(static_cast<double>(total_));
  if (seconds > 0) {
    line += " in " + duration_words(from_seconds(seconds)) + ", " +
            bytes_words(static_cast<double>(total_) / seconds) + "/s";
  }
  stream_.print(line + ".\n");
}

}  // namespace trainwatch
