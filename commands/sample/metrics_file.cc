// SPDX-License-Identifier: Apache-2.0
#include "commands/sample/metrics_file.h"

#include <fcntl.h>
#include <sys/types.h>

#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <system_error>

namespace trainwatch {
namespace {

constexpr std::int64_t kMicro = 1000;
constexpr std::int64_t kSecondNs = 1'000'000 * kMicro;

std::int64_t minute_of(Time at) {
  return to_ns(at) / kSecondNs / 60 * 60;
}

bool is_node_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-';
}

void append(std::string& out, std::int64_t number) {
  char text[24];
  out.append(text, std::to_chars(text, text + sizeof text, number).ptr);
}

// At most two decimals, none that say nothing: 4.76, 12.5, 100.
void append_value(std::string& out, double value) {
  const auto hundredths = static_cast<std::int64_t>(std::llround(value * 100));
  append(out, hundredths / 100);
  const auto rest = static_cast<int>(hundredths % 100);
  if (rest == 0) return;
  out += '.';
  out += static_cast<char>('0' + rest / 10);
  if (rest % 10 != 0) out += static_cast<char>('0' + rest % 10);
}

std::string timestamp(Time at) {
  const std::int64_t ns = to_ns(at);
  char text[40];
  std::snprintf(text, sizeof text, "%lld.%06lld", static_cast<long long>(ns / kSecondNs),
                static_cast<long long>(ns % kSecondNs / kMicro));
  return text;
}

Error failed(const std::string& what, const std::string& path, int code) {
  return Error{what + " " + path + ": " + std::strerror(code)};
}

}  // namespace

bool is_node_name(std::string_view node) {
  if (node.empty() || node.size() > 128) return false;
  for (const char c : node) {
    if (!is_node_char(c)) return false;
  }
  return true;
}

std::string node_name_of(std::string_view host) {
  std::string node(host.substr(0, 128));
  for (char& c : node) {
    if (!is_node_char(c)) c = '-';
  }
  return node.empty() ? "localhost" : node;
}

std::string MetricsFile::path_of(std::string_view directory, std::string_view node, Time at) {
  const std::time_t minute = minute_of(at);
  std::tm utc{};
  gmtime_r(&minute, &utc);
  char hour[24];
  std::strftime(hour, sizeof hour, "%Y%m%d%H", &utc);
  std::string path(directory);
  path.append("/system/incremental/").append(hour).append("/");
  append(path, minute);
  return path.append(".").append(node).append(".json");
}

Status MetricsFile::open(Time at) {
  path_ = path_of(directory_, node_, at);
  std::error_code failure;
  const auto parent = std::filesystem::path(path_).parent_path();
  std::filesystem::create_directories(parent, failure);
  if (failure) return failed("cannot create", parent.string(), failure.value());
  file_ = FileHandle(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!file_.valid()) return failed("cannot open", path_, errno);
  minute_ = minute_of(at);
  return success();
}

Status MetricsFile::write(Time at, std::span<const Metric> metrics) {
  if (metrics.empty()) return success();
  if (minute_ != minute_of(at)) {
    if (Status opened = open(at); !opened) return opened;
  }
  const std::string tail = "\",\"Timestamp\":" + timestamp(at) + "}\n";
  lines_.clear();
  for (const Metric& metric : metrics) {
    lines_.append(R"({"Type":")").append(metric.type);
    lines_.append(R"(","Name":")").append(metric.name);
    if (metric.device != Metric::kNoDevice) append(lines_, metric.device);
    lines_.append(R"(","Dimension":")").append(metric.dimension).append(R"(","Value":)");
    append_value(lines_, metric.value);
    lines_.append(R"(,"NodeId":")").append(node_).append(tail);
  }
  std::string_view rest = lines_;
  while (!rest.empty()) {
    const ssize_t written = ::write(file_.get(), rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failed("cannot write", path_, errno);
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  return success();
}

}  // namespace trainwatch
