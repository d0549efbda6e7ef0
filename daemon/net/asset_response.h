// SPDX-License-Identifier: Apache-2.0
// Answers with what is compiled into the program: the page, the documentation.
#pragma once

#include "daemon/net/http_message.h"

namespace trainwatch {

// Where scripts and styles lie, under names that change with their content (scripts/embed.cmake).
inline constexpr std::string_view kAssets = "/assets/";

// The asset of this path.
HttpResponse asset_response(const HttpRequest& request);

// A document (documents.h). A folder without the last slash leads to the one with it, without which
// relative links would lead astray.
HttpResponse document_response(const HttpRequest& request);

}  // namespace trainwatch
