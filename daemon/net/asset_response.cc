// SPDX-License-Identifier: Apache-2.0
#include "daemon/net/asset_response.h"

#include <algorithm>
#include <string>
#include <utility>

#include "daemon/net/accept.h"
#include "daemon/net/documents.h"
#include "daemon/net/web_assets.h"

namespace trainwatch {
namespace {

std::string_view type_of(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
      {".html", "text/html; charset=utf-8"},     {".css", "text/css; charset=utf-8"},
      {".js", "text/javascript; charset=utf-8"}, {".svg", "image/svg+xml"},
      {".md", "text/plain; charset=utf-8"},      {".yaml", "application/yaml"},
  };
  for (const auto& [ending, type] : kTypes) {
    if (name.ends_with(ending)) return type;
  }
  return "application/octet-stream";
}

HttpResponse response_with(const WebAsset& asset, const HttpRequest& request) {
  const bool gzip = !asset.gzip.empty() && accepts_gzip(request.header("Accept-Encoding"));
  const std::string etag = "\"" + std::string(asset.hash) + (gzip ? "-gz\"" : "\"");
  HttpResponse response;
  response.caching = asset.path.starts_with(kAssets) ? Caching::forever : Caching::revalidate;
  response.content_type = type_of(asset.name);
  response.headers.emplace_back("ETag", etag);
  if (!asset.gzip.empty()) response.headers.emplace_back("Vary", "Accept-Encoding");
  if (request.header("If-None-Match").find(etag) != std::string_view::npos) {
    response.status = 304;
    return response;
  }
  if (gzip) response.headers.emplace_back("Content-Encoding", "gzip");
  response.body = gzip ? asset.gzip : asset.bytes;
  return response;
}

const WebAsset* document_at(std::string_view path) {
  constexpr std::string_view kApi = "/api/v1/";  // its descriptions lie beside it, too
  if (path.starts_with(kApi)) return find_document("api/" + std::string(path.substr(kApi.size())));
  return path.starts_with(kDocuments) ? find_document(path.substr(kDocuments.size())) : nullptr;
}

}  // namespace

HttpResponse asset_response(const HttpRequest& request) {
  const auto all = web_assets();
  const auto found = std::ranges::find(all, request.path(), &WebAsset::path);
  return found == all.end() ? error_response(404) : response_with(*found, request);
}

HttpResponse document_response(const HttpRequest& request) {
  if (const WebAsset* const found = document_at(request.path())) {
    return response_with(*found, request);
  }
  const std::string folder = std::string(request.path()) + '/';
  if (document_at(folder) == nullptr) return error_response(404);
  auto response = error_response(301);
  response.headers.emplace_back("Location", folder);
  return response;
}

}  // namespace trainwatch
