// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/console.h"

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <utility>

#include "daemon/app/daemon_clock.h"
#include "daemon/terminal/columns.h"
#include "daemon/terminal/local_zone.h"
#include "daemon/terminal/shown_alert.h"
#include "daemon/version.h"

namespace trainwatch {
namespace {

constexpr auto kRetryEvery = std::chrono::milliseconds(100);

}  // namespace

Console::Console(const ConsoleOptions& options, Logger& log, boost::asio::io_context& net)
    : options_(options), log_(log), line_(options.out), retry_timer_(net), news_(options.least) {
  if (!options.shares_terminal()) own_.emplace(STDOUT_FILENO);
  local_zone(wall_clock());
}

void Console::print(std::string_view lines) {
  if (!own_) return log_.print(lines);
  write(line_.lines(lines));
}

void Console::write(std::string bytes) {
  own_->write_bytes(std::move(bytes));
  retry_later();
}

void Console::retry_later() {
  if (own_->empty() || retrying_ || ended_) return;
  retrying_ = true;
  retry_timer_.expires_after(kRetryEvery);
  retry_timer_.async_wait([this](boost::system::error_code failure) {
    retrying_ = false;
    if (failure || ended_) return;
    own_->flush();
    retry_later();
  });
}

void Console::print_wrapped(std::string_view sentence) {
  std::string lines;
  append_wrapped(lines, sentence, 0, options_.out.width);
  print(lines);
}

void Console::started(const std::string& url, const std::vector<std::string>& watched) {
  if (!options_.text) return;
  for (const std::string& path : watched) {
    std::error_code failure;
    const bool there = std::filesystem::exists(path, failure);
    print_wrapped(there ? "Watching " + path
                        : path + " does not exist: nothing is read from it until it does.");
  }
  print_wrapped("Page, metrics and API: " + url + " (trainwatch " + std::string(version()) + ")");
}

void Console::show(const PublishedAlert& alert) {
  if (alert.part || alert.severity < options_.least) return;
  if (!options_.text) return print(alert.json + "\n");
  options_.out.width = terminal_width(STDOUT_FILENO, options_.out.width);
  const auto shown = shown_alert(alert.json);
  if (shown && news_.is_news(*shown)) print(text_of(*shown, options_.out, wall_clock()));
}

void Console::show(const Snapshot& snapshot) {
  if (own_) {
    if (const auto lost = own_->dropped(); lost != dropped_ && own_->empty() && !own_->refused()) {
      log_.warn("nobody read the alerts on standard output; lines were dropped",
                {{"lines", std::to_string(lost - dropped_)}});
      dropped_ = lost;
    }
  }
  if (!options_.text) return;
  state_.on_steps(snapshot.steps_json);
  const StateLine::News news = state_.on_runs(snapshot.runs_json);
  if (news.monitor) print_wrapped(state_.monitor());
  const Time now = wall_clock();
  if (!options_.out.rewrites) {
    if (news.state) print_wrapped(state_.sentence(now));
  } else if (!own_) {
    log_.show(state_.text(now));
  } else if (own_->empty()) {
    line_.set_width(terminal_width(STDOUT_FILENO, options_.out.width));
    write(line_.show(state_.text(now), StatusLine::Clock::now()));
  }
}

void Console::end() {
  ended_ = true;
  retry_timer_.cancel();
  if (!options_.text) return;
  own_ ? own_->write_bytes(line_.clear()) : log_.clear();
  print_wrapped(state_.sentence(wall_clock()));
}

}  // namespace trainwatch
