// SPDX-License-Identifier: Apache-2.0
// Log lines on standard error: a fixed sentence and key=value fields, as logfmt or JSON. Under
// systemd each line carries its priority for the journal, and no time, which the journal has.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "daemon/config/config.h"
#include "daemon/terminal/text_style.h"
#include "trainwatch/time.h"

namespace trainwatch {

struct LogField {
  std::string_view key;
  std::string value;
};

// Lines that were not written.
struct LogLosses {
  std::uint64_t unread = 0;    // nobody read what was written before
  std::uint64_t repeated = 0;  // the same message too often (LogLimiter)
};

// May be used from any thread, and never waits for the reader of the log. Lines that were left out
// are counted in the log as soon as it is read again. Reloading calls configure().
class Logger {
 public:
  // Writes to standard error if none is given. `style` is that of the descriptor where people read
  // more than the log there.
  explicit Logger(const LogConfig& config, int descriptor = 2, const TextStyle& style = {});
  ~Logger();

  void configure(const LogConfig& config);
  void log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields = {});
  // Writes what could not be written before, and says what was left out. Call once a second.
  void flush();
  LogLosses losses() const;

  // For people at the terminal that the log goes to: whole lines between those of the log, and the
  // line below them all, see StatusLine.
  void print(std::string_view lines);
  void show(std::string_view status_line);
  void clear();

  void debug(std::string_view message, std::initializer_list<LogField> fields = {}) {
    log(LogLevel::debug, message, fields);
  }
  void info(std::string_view message, std::initializer_list<LogField> fields = {}) {
    log(LogLevel::info, message, fields);
  }
  void warn(std::string_view message, std::initializer_list<LogField> fields = {}) {
    log(LogLevel::warn, message, fields);
  }
  void error(std::string_view message, std::initializer_list<LogField> fields = {}) {
    log(LogLevel::error, message, fields);
  }

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// One line without its newline. `at` == kNoTime leaves the time out; `journal` puts "<6>" in front.
std::string format_log_line(LogFormat format, bool journal, Time at, LogLevel level,
                            std::string_view message, std::initializer_list<LogField> fields);

// Is standard error connected to the journal ($JOURNAL_STREAM is "device:inode" of it)?
bool stderr_is_journal();

}  // namespace trainwatch
