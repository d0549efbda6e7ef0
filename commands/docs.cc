// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iomanip>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "commands/commands.h"
#include "daemon/config/config_text.h"
#include "daemon/exit_code.h"
#include "daemon/net/documents.h"

namespace trainwatch {
namespace {

constexpr std::string_view kRules = "rules/";

void print_titles(std::ostream& out) {
  const auto titles = document_titles();
  std::size_t width = 0;
  for (const auto& each : titles) width = std::max(width, each.name.size());
  for (const auto& each : titles) {
    out << std::left << std::setw(static_cast<int>(width + 2)) << each.name << each.title << '\n';
  }
}

// For what is meant: every name, of rules also the short one.
std::vector<std::string_view> known_names() {
  std::vector<std::string_view> names;
  for (const auto& each : document_titles()) {
    names.push_back(each.name);
    if (each.name.starts_with(kRules)) names.push_back(each.name.substr(kRules.size()));
  }
  return names;
}

}  // namespace

int docs(const DocsOptions& options, std::ostream& out, std::ostream& err) {
  if (options.name.empty()) {
    print_titles(out);
    return exit_code::done;
  }
  const WebAsset* found = find_document(options.name);
  if (found == nullptr) found = find_document(std::string(kRules) + options.name);
  if (found == nullptr) {
    err << "no document '" << options.name << "'" << did_you_mean(options.name, known_names())
        << "\n'trainwatch docs' lists them.\n";
    return exit_code::usage;
  }
  out << found->bytes << std::flush;
  return exit_code::done;
}

}  // namespace trainwatch
