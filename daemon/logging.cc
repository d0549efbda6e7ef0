#include "daemon/logging.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>

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

struct Logger::Impl {
  spdlog::logger log{"trainwatch", std::make_shared<spdlog::sinks::stderr_sink_mt>()};
  std::atomic<LogFormat> format{LogFormat::logfmt};
  bool journal = stderr_is_journal();
};

Logger::Logger(const LogConfig& config) : impl_(std::make_unique<Impl>()) {
  impl_->log.set_pattern("%v");
  configure(config);
}

Logger::~Logger() = default;

void Logger::configure(const LogConfig& config) {
  impl_->log.set_level(spdlog_level(config.level));
  impl_->format = config.format;
}

void Logger::log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
  if (!impl_->log.should_log(spdlog_level(level))) return;
  const auto now = std::chrono::time_point_cast<Nanos>(std::chrono::system_clock::now());
  const std::string line = format_log_line(impl_->format, impl_->journal,
                                           impl_->journal ? kNoTime : now, level, message, fields);
  impl_->log.log(spdlog_level(level), spdlog::string_view_t(line));
}

}  // namespace trainwatch
