#include "pipeline/tail/first_sight.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "pipeline/tail/content_search.h"

namespace trainwatch {
Status note_first_sight(OpenFile& handle, TrackedFile& file) {
  std::array<char, ContentMark::kTail> bytes{};
  const auto head = read_fully(handle, 0, bytes);
  if (!head) return head.error();
  const std::string_view seen = head->substr(0, head->size() - std::min(head->size(), kLongestCut));
  if (seen.starts_with(file.first_sight)) file.first_sight = seen;
  return success();
}

}  // namespace trainwatch
