// SPDX-License-Identifier: Apache-2.0
#include "daemon/logging.h"

#include <spdlog/details/null_mutex.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "daemon/log_limiter.h"
#include "daemon/log_output.h"
#include "daemon/terminal/status_line.h"
#include "trainwatch/json_writer.h"

namespace trainwatch {
namespace {

std::string_view name_of(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return "debug";
    case LogLevel::info:
      return "info";
    case LogLevel::warn:
      return "warn";
    case LogLevel::error:
      return "error";
  }
  return "error";
}

// Priorities of syslog(3), as sd-daemon(3) reads them from the beginning of a line.
std::string_view priority_of(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return "<7>";
    case LogLevel::info:
      return "<6>";
    case LogLevel::warn:
      return "<4>";
    case LogLevel::error:
      return "<3>";
  }
  return "<3>";
}

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warn:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

// A bare word stays bare; anything else is quoted, so that a line can be taken apart again.
void append_logfmt(std::string& line, std::string_view key, std::string_view value) {
  if (!line.empty() && line.back() != '>') line += ' ';
  line.append(key).append("=");
  const bool bare = !value.empty() && std::all_of(value.begin(), value.end(), [](char c) {
    return c > ' ' && c < 0x7f && c != '"' && c != '=' && c != '\\';
  });
  if (bare) {
    line.append(value);
  } else {
    line += JsonWriter{}.value(value).text();
  }
}

}  // namespace

std::string format_log_line(LogFormat format, bool journal, Time at, LogLevel level,
                            std::string_view message, std::initializer_list<LogField> fields) {
  std::string line(journal ? priority_of(level) : "");
  if (format == LogFormat::json) {
    JsonWriter json;
    json.begin_object();
    if (at != kNoTime) json.field("ts", to_rfc3339(at));
    json.field("level", name_of(level)).field("msg", message);
    for (const LogField& field : fields) json.field(field.key, field.value);
    return line + json.end_object().text();
  }
  if (at != kNoTime) append_logfmt(line, "ts", to_rfc3339(at));
  append_logfmt(line, "level", name_of(level));
  append_logfmt(line, "msg", message);
  for (const LogField& field : fields) append_logfmt(line, field.key, field.value);
  return line;
}

bool stderr_is_journal() {
  const char* stream = std::getenv("JOURNAL_STREAM");
  struct stat file {};
  if (stream == nullptr || fstat(STDERR_FILENO, &file) != 0) return false;
  return stream == std::to_string(file.st_dev) + ":" + std::to_string(file.st_ino);
}

// Where spdlog's lines go. Its own sinks wait for their reader.
class OutputSink final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  OutputSink(int descriptor, const TextStyle& style)
      : descriptor_(descriptor), output_(descriptor), line_(style) {}
  const LogOutput& output() const { return output_; }

  void print(std::string_view lines) { output_.write_bytes(line_.lines(lines)); }
  // Left out while the terminal takes nothing: the next one comes soon.
  void show(std::string_view text) {
    const auto now = StatusLine::Clock::now();
    output_.flush();
    if (!line_.is_due(now) || !output_.empty()) return;
    line_.set_width(terminal_width(descriptor_, TextStyle{}.width));
    if (std::string bytes = line_.show(text, now); !bytes.empty())
      output_.write_bytes(std::move(bytes));
  }
  void clear() {
    if (std::string bytes = line_.clear(); !bytes.empty()) output_.write_bytes(std::move(bytes));
  }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    print(std::string(message.payload.data(), message.payload.size()) + '\n');
  }
  void flush_() override { output_.flush(); }

 private:
  int descriptor_;
  LogOutput output_;
  StatusLine line_;
};

// The one lock of the daemon: every thread logs, and rarely.
struct Logger::Impl {
  Impl(int descriptor, const TextStyle& style)
      : sink(std::make_shared<OutputSink>(descriptor, style)), logger("trainwatch", sink) {}

  void write(LogLevel of, std::string_view message, std::initializer_list<LogField> fields) {
    const auto now = std::chrono::time_point_cast<Nanos>(std::chrono::system_clock::now());
    const std::string line =
        format_log_line(format, journal, journal ? kNoTime : now, of, message, fields);
    logger.log(spdlog_level(of), spdlog::string_view_t(line));
  }

  void flush() {
    logger.flush();
    for (const auto& [message, lines] : limiter.take_ended(std::chrono::steady_clock::now())) {
      repeated += lines;
      write(LogLevel::warn, "a message was repeated too often; lines were left out",
            {{"message", message}, {"lines", std::to_string(lines)}});
    }
    const LogOutput& output = sink->output();
    if (output.dropped() == said || output.refused() || !output.empty()) return;
    const std::uint64_t lines = output.dropped() - std::exchange(said, output.dropped());
    write(LogLevel::warn, "nobody read the log; lines were dropped",
          {{"lines", std::to_string(lines)}});
  }

  mutable std::mutex mutex;
  std::shared_ptr<OutputSink> sink;
  spdlog::logger logger;
  LogLimiter limiter;
  LogFormat format = LogFormat::logfmt;
  bool journal = stderr_is_journal();
  std::uint64_t said = 0;      // of its dropped()
  std::uint64_t repeated = 0;  // lines
};

Logger::Logger(const LogConfig& config, int descriptor, const TextStyle& style)
    : impl_(std::make_unique<Impl>(descriptor, style)) {
  configure(config);
}

Logger::~Logger() = default;

void Logger::configure(const LogConfig& config) {
  const std::scoped_lock lock(impl_->mutex);
  impl_->logger.set_level(spdlog_level(config.level));
  impl_->format = config.format;
}

void Logger::log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
  const std::scoped_lock lock(impl_->mutex);
  if (!impl_->logger.should_log(spdlog_level(level))) return;
  impl_->flush();
  if (impl_->limiter.admit(message, std::chrono::steady_clock::now())) {
    impl_->write(level, message, fields);
  }
}

void Logger::flush() {
  const std::scoped_lock lock(impl_->mutex);
  impl_->flush();
}

void Logger::print(std::string_view lines) {
  const std::scoped_lock lock(impl_->mutex);
  impl_->sink->print(lines);
}

void Logger::show(std::string_view status_line) {
  const std::scoped_lock lock(impl_->mutex);
  impl_->sink->show(status_line);
}

void Logger::clear() {
  const std::scoped_lock lock(impl_->mutex);
  impl_->sink->clear();
}

LogLosses Logger::losses() const {
  const std::scoped_lock lock(impl_->mutex);
  return {impl_->sink->output().dropped(), impl_->repeated};
}

}  // namespace trainwatch
