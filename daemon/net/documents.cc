// SPDX-License-Identifier: Apache-2.0
#include "daemon/net/documents.h"

#include <algorithm>
#include <string>

namespace trainwatch {
namespace {

// The rest of the first line that begins with a mark: of Markdown, or of the YAML in docs/api.
std::string_view title_of(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    for (const std::string_view mark : {"# ", "  title: "}) {
      if (line.starts_with(mark)) return line.substr(mark.size());
    }
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return {};
}

}  // namespace

const WebAsset* find_document(std::string_view name) {
  std::string path = std::string(kDocuments).append(name);
  if (path.ends_with(".md")) path.resize(path.size() - 3);
  if (path.ends_with('/')) path += "README";
  const auto all = web_assets();
  const auto found = std::ranges::find(all, path, &WebAsset::path);
  return found == all.end() ? nullptr : &*found;
}

std::vector<DocumentTitle> document_titles() {
  std::vector<DocumentTitle> titles;
  for (const WebAsset& asset : web_assets()) {
    if (!asset.path.starts_with(kDocuments)) continue;
    titles.push_back({asset.path.substr(kDocuments.size()), title_of(asset.bytes)});
  }
  const auto in_folder = [](const DocumentTitle& each) {
    return each.name.find('/') != std::string_view::npos;
  };
  std::ranges::sort(titles, [&](const DocumentTitle& a, const DocumentTitle& b) {
    if (in_folder(a) != in_folder(b)) return in_folder(b);
    return a.name < b.name;
  });
  return titles;
}

}  // namespace trainwatch
