#include "pipeline/tail/first_sight.h"

#include <array>
#include <memory>
#include <utility>

#include "pipeline/tail/content_search.h"

namespace trainwatch {
void note_first_sight(FileSystem& files, TrackedFile& file) {
  std::unique_ptr<OpenFile> reopened;
  OpenFile* present = file.handle.get();
  if (present == nullptr) {
    auto opened = files.open(file.order.path);
    if (!opened) return;
    reopened = std::move(*opened);
    present = reopened.get();
  }
  std::array<char, ContentMark::kTail> bytes{};
  const auto head = read_fully(*present, 0, bytes);
  if (!head || head->size() <= kLongestCut) return;
  file.first_sight = head->substr(0, head->size() - kLongestCut);
}

}  // namespace trainwatch
