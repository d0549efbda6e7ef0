// SPDX-License-Identifier: Apache-2.0
// A job as the lines of its files, so that a test can put lines in, repeat them or move them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "support/temp_directory.h"

namespace trainwatch::test {

// Where the time stands in a line of system metrics or of a timeline; empty in other lines.
struct LineTime {
  std::size_t begin = 0;
  std::size_t size = 0;
  double per_second = 1;
};
inline LineTime find_time(const std::string& line) {
  for (const auto& [key, per_second] :
       {std::pair{std::string("\"Timestamp\":"), 1.0}, std::pair{std::string("\"ts\":"), 1e6}}) {
    const std::size_t at = line.find(key);
    if (at == std::string::npos) continue;
    const std::size_t begin = line.find_first_not_of(' ', at + key.size());
    return {begin, line.find_first_of(",} ", begin) - begin, per_second};
  }
  return {};
}
inline bool has_time(const std::string& line) {
  return find_time(line).size > 0;
}
inline double seconds_of(const std::string& line) {
  const LineTime time = find_time(line);
  return std::stod(line.substr(time.begin, time.size)) / time.per_second;
}
// The same record, this much later.
inline std::string moved(const std::string& line, std::int64_t seconds) {
  const LineTime time = find_time(line);
  const std::string text = line.substr(time.begin, time.size);
  const std::size_t point = std::min(text.find('.'), text.size());
  const auto whole = std::stoll(text.substr(0, point));
  const auto later = whole + seconds * static_cast<std::int64_t>(time.per_second);
  std::string made = line;
  return made.replace(time.begin, time.size, std::to_string(later) + text.substr(point));
}

using Lines = std::vector<std::string>;

class LineJob {
 public:
  // The system metrics and timelines below `root`.
  explicit LineJob(const std::filesystem::path& root) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      const std::string path = entry.path().string();
      const bool wanted = path.find("/system/") != std::string::npos ||
                          path.find("timeline.json") != std::string::npos;
      if (!entry.is_regular_file() || !wanted) continue;
      std::ifstream in(path);
      Lines& lines = files_[std::filesystem::relative(path, root).string()];
      for (std::string line; std::getline(in, line);) lines.push_back(line);
    }
  }

  std::map<std::string, Lines>& files() { return files_; }
  void change(const std::function<Lines(const Lines&)>& trouble) {
    for (auto& [name, lines] : files_) lines = trouble(lines);
  }
  void write(const TempDirectory& directory) const {
    for (const auto& [name, lines] : files_) directory.append(name, text_of(lines));
  }
  static std::string text_of(const Lines& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + '\n';
    return text;
  }

 private:
  std::map<std::string, Lines> files_;  // by path below the root
};

}  // namespace trainwatch::test
