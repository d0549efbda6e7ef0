// SPDX-License-Identifier: Apache-2.0
// What `trainwatch run` says on its standard output: on a terminal sentences (alerts as they come,
// and a state line below everything), in a pipe alerts as JSON lines. The log is standard error's;
// where both end on one terminal, one writer serves them, so that nothing is glued.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/log_output.h"
#include "daemon/logging.h"
#include "daemon/terminal/alert_news.h"
#include "daemon/terminal/state_line.h"
#include "daemon/terminal/status_line.h"
#include "daemon/terminal/text_style.h"
#include "trainwatch/snapshot.h"

namespace trainwatch {

struct ConsoleOptions {
  bool text = false;                // sentences; otherwise JSON
  Severity least = Severity::info;  // of the alerts that are printed
  TextStyle out{};
  TextStyle err{};

  // The log and the sentences end on one terminal.
  bool shares_terminal() const { return text && out.terminal && err.terminal; }
};

// Of the net thread. Never blocks: output that the reader does not accept is queued and retried;
// beyond a limit it is dropped, and the log says so.
class Console {
 public:
  // Writes to descriptor 1, or through `log`, which outlives this. Queued output keeps `net`
  // running until end().
  Console(const ConsoleOptions& options, Logger& log, boost::asio::io_context& net);

  // What is watched, what of that does not exist, and where the page is.
  void started(const std::string& url, const std::vector<std::string>& watched);
  void show(const PublishedAlert& alert);
  void show(const Snapshot& snapshot);
  // Whether that says something each second.
  bool shows_state() const { return options_.text; }
  // The last word: erases the state line and says what it said.
  void end();

 private:
  void print(std::string_view lines);
  void print_wrapped(std::string_view sentence);
  void write(std::string bytes);
  void retry_later();

  ConsoleOptions options_;
  Logger& log_;
  std::optional<LogOutput> own_;  // where the log does not go there
  StatusLine line_;               // the same
  boost::asio::steady_timer retry_timer_;
  bool retrying_ = false;  // the timer is running
  bool ended_ = false;
  StateLine state_;
  AlertNews news_;
  std::uint64_t dropped_ = 0;  // as last said
};

}  // namespace trainwatch
