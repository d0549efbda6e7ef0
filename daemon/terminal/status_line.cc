// SPDX-License-Identifier: Apache-2.0
#include "daemon/terminal/status_line.h"

#include "daemon/terminal/columns.h"

namespace trainwatch {
namespace {

constexpr std::string_view kErase = "\r\x1b[K";

}  // namespace

// One column stays free: a full line would move the cursor to the next one.
std::string StatusLine::draw() {
  drawn_ = cut_to_columns(text_, style_.width > 1 ? style_.width - 1 : 1);
  return drawn_;
}

std::string StatusLine::lines(std::string_view text) {
  std::string bytes = erase();
  bytes += text;
  return bytes + redraw();
}

std::string StatusLine::erase() const {
  return std::string(drawn_.empty() ? "" : kErase);
}

std::string StatusLine::redraw() {
  return drawn_.empty() ? drawn_ : draw();
}

std::string StatusLine::show(std::string_view text, Clock::time_point now) {
  text_ = text;
  if (!is_due(now)) return {};
  const std::string before = drawn_;
  const std::string after = draw();
  if (before == after) return {};
  drawn_at_ = now;
  ever_ = true;
  return before.empty() ? after : std::string(kErase) + after;
}

std::string StatusLine::clear() {
  text_.clear();
  if (drawn_.empty()) return {};
  drawn_.clear();
  return std::string(kErase);
}

}  // namespace trainwatch
