// SPDX-License-Identifier: Apache-2.0
// The documentation that the program carries (scripts/embed.cmake): the Markdown files of docs/ and
// docs/rules/, and docs/api/*.yaml. Served below kDocuments, printed by `trainwatch docs`.
#pragma once

#include <string_view>
#include <vector>

#include "daemon/net/web_assets.h"

namespace trainwatch {

inline constexpr std::string_view kDocuments = "/docs/";

// Finds a document by its path below docs/, with or without ".md": "prometheus", "rules/stall",
// "api/openapi.yaml". A folder ("", "rules/") means its README. Returns null if there is no such
// document.
const WebAsset* find_document(std::string_view name);

struct DocumentTitle {
  std::string_view name;
  std::string_view title;
};

// All, by name; those in folders last.
std::vector<DocumentTitle> document_titles();

}  // namespace trainwatch
