// SPDX-License-Identifier: Apache-2.0
#include "rules/case_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "rules/words.h"
#include "support/source_path.h"

namespace trainwatch::cases {
namespace {

constexpr std::string_view kHeading = "== ";

std::string read_text(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) throw std::runtime_error(path + ": cannot be read");
  return std::move(text).str();
}

}  // namespace

std::vector<CaseText> split_cases(std::string_view text) {
  std::vector<CaseText> cases = {{}};
  int number = 0;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    ++number;
    if (line.starts_with(kHeading)) {
      cases.push_back({std::string(line.substr(kHeading.size())), number, ""});
    } else if (!cases.back().name.empty() || !words_of(line).empty()) {
      cases.back().text.append(line).push_back('\n');
    }
  }
  if (cases.front().text.empty()) cases.erase(cases.begin());
  return cases;
}

std::vector<CaseFile> read_case_files() {
  std::vector<CaseFile> files;
  for (const auto& entry : std::filesystem::directory_iterator(source_path("tests/rules"))) {
    const std::filesystem::path& path = entry.path();
    if (path.extension() != ".cases") continue;
    files.push_back({path.string(), path.stem().string(), split_cases(read_text(path.string()))});
  }
  std::ranges::sort(files, {}, &CaseFile::path);
  return files;
}

}  // namespace trainwatch::cases
