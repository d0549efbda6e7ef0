#include "pipeline/tail/first_sight.h"

#include <array>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "pipeline/tail/content_search.h"

namespace trainwatch {
namespace {

// The file as it is open, or opened for `reopened`; null when it cannot be.
OpenFile* open_for_a_look(FileSystem& files, const TrackedFile& file,
                          std::unique_ptr<OpenFile>& reopened) {
  if (file.handle != nullptr) return file.handle.get();
  auto opened = files.open(file.order.path);
  if (opened) reopened = std::move(*opened);
  return reopened.get();
}

}  // namespace

void note_first_sight(FileSystem& files, TrackedFile& file) {
  std::unique_ptr<OpenFile> reopened;
  OpenFile* const present = open_for_a_look(files, file, reopened);
  if (present == nullptr) return;
  std::array<char, ContentMark::kTail> bytes{};
  const auto head = read_fully(*present, 0, bytes);
  if (!head || head->size() <= kLongestCut) return;
  file.first_sight = head->substr(0, head->size() - kLongestCut);
}

bool has_other_content(FileSystem& files, const TrackedFile& file) {
  const bool begun = file.offset() > 0;
  const std::string_view known = begun ? file.read.tail() : std::string_view(file.first_sight);
  if (known.empty() || file.at_end()) return false;
  std::unique_ptr<OpenFile> reopened;
  OpenFile* const present = open_for_a_look(files, file, reopened);
  if (present == nullptr) return false;
  std::array<char, ContentMark::kTail> bytes{};
  const auto there = read_fully(*present, begun ? file.offset() - known.size() : 0,
                                std::span(bytes).first(known.size()));
  return there && *there != known;
}

}  // namespace trainwatch
