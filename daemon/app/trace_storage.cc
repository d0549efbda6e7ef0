// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/trace_storage.h"

#include <utility>

namespace trainwatch {
namespace {

constexpr std::size_t kMostInflated = std::size_t{64} << 20U;

Error ended() {
  return {"the request has ended"};
}

}  // namespace

Document::Document(bool gzip, std::uint64_t most_bytes) : bytes_left_(most_bytes) {
  if (gzip) deflate_.emplace([this](std::string_view bytes) { put(bytes); });
}

void Document::put(std::string_view bytes) {
  if (bytes.size() > bytes_left_) end_ = End::too_long;
  if (end_ != End::complete) return;
  bytes_left_ -= bytes.size();
  if (!keep(bytes)) end_ = End::failed;
}

Document::End Document::finish() {
  if (deflate_) deflate_->finish();
  return end_;
}

Status MemoryDocument::keep(std::string_view bytes) {
  text_.append(bytes);
  return success();
}

bool SharedBytes::take(std::uint64_t bytes) {
  std::uint64_t left = left_;
  while (left >= bytes) {
    if (left_.compare_exchange_weak(left, left - bytes)) return true;
  }
  return false;
}

StoredDocument::StoredDocument(std::string directory, bool gzip, std::shared_ptr<SharedBytes> room)
    : Document(gzip, kMostBytes), file_(std::move(directory)), room_(std::move(room)) {}

Status StoredDocument::keep(std::string_view bytes) {
  if (!room_->take(bytes.size())) return Error{"other documents wait to be sent"};
  size_ += bytes.size();
  return file_.append(bytes);
}

bool StoredDocument::read(std::uint64_t offset, std::span<char> buffer) {
  return file_.read(offset, buffer).ok();
}

Status RequestRuns::append(std::string_view bytes) {
  return files_.ended() ? ended() : file_.append(bytes);
}

Status RequestRuns::read(std::uint64_t offset, std::span<char> buffer) {
  return files_.ended() ? ended() : file_.read(offset, buffer);
}

std::optional<std::string> inflated(std::string_view compressed) {
  InflateStream stream;
  std::string text;
  stream.push(compressed);
  for (auto piece = stream.pull(); !piece.empty(); piece = stream.pull()) {
    text.append(piece);
    if (text.size() > kMostInflated) return std::nullopt;
  }
  return text;
}

}  // namespace trainwatch
