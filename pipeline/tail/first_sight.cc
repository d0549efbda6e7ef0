#include "pipeline/tail/first_sight.h"

#include <array>

#include "pipeline/tail/content_search.h"

namespace trainwatch {
Status note_first_sight(OpenFile& handle, TrackedFile& file) {
  std::array<char, ContentMark::kTail> bytes{};
  const auto head = read_fully(handle, 0, bytes);
  if (!head) return head.error();
  if (head->size() > kLongestCut) file.first_sight = head->substr(0, head->size() - kLongestCut);
  return success();
}

}  // namespace trainwatch
