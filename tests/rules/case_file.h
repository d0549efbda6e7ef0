// SPDX-License-Identifier: Apache-2.0
// Files of rule cases: tests/rules/RULE.cases holds the cases of one rule, each below a heading
// "== NAME". The format is described in tests/rules/README.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainwatch::cases {

// The text of a case, not yet parsed.
struct CaseText {
  std::string name;  // "firing_single"; empty for lines above the first heading
  int line = 0;      // of the heading; the text starts on the next one
  std::string text;
};

struct CaseFile {
  std::string path;
  std::string rule;  // the stem of the path
  std::vector<CaseText> cases;
};

// Lines above the first heading make a case without a name, unless they are blank or comments.
std::vector<CaseText> split_cases(std::string_view text);

// Every tests/rules/*.cases, sorted by path. Throws where a file cannot be read.
std::vector<CaseFile> read_case_files();

}  // namespace trainwatch::cases
