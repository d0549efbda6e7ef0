#include "pipeline/tail/tracked_file.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace trainwatch {
namespace {

// The known bytes are read again each time, so that a file system that gives little at a time is
// asked for at least this much.
constexpr std::size_t kWorthWhile = 4096;
constexpr std::string_view kAfterCut = " \r\n]}";  // anything else is new content

}  // namespace

bool observe(TrackedFile& file, const FileStat& stat, unsigned patience) {
  file.linked = stat.linked;
  const bool shorter = file.remote && stat.size < file.offset();
  if (!shorter) file.shrunk_polls = 0;
  file.shrunk = shorter && file.shrunk_polls < patience;
  if (file.shrunk) return file.unread();
  // A finished file's decoder is gone: only growth is worth hearing of, not a rewritten end.
  const bool rewritten =
      stat.modified_ns != file.modified_ns && file.offset() > 0 && !file.finished;
  if (stat.size < file.offset() || rewritten) file.touched = true;
  if (stat.size < file.size && file.size > file.offset()) {
    file.unread_when_cut = file.size - file.offset();
  }
  file.size = stat.size;
  file.modified_ns = stat.modified_ns;
  return file.unread();
}

Result<ReadStep> read_on(TrackedFile& file, std::span<char> buffer) {
  assert(file.handle != nullptr && buffer.size() > ContentMark::kTail);
  const std::string_view tail = file.read.tail();
  const std::size_t known = tail.size();
  buffer = buffer.first(buffer.size() - ContentMark::kTail + known);
  std::size_t total = 0;
  const std::size_t enough = std::min(known + kWorthWhile, buffer.size());
  for (std::size_t got = 1; got > 0 && total < enough; total += got) {  // short reads are normal
    const auto piece = file.handle->read(file.offset() - known + total, buffer.subspan(total));
    if (!piece && total > known) break;  // what there is comes first
    if (!piece) return piece.error();
    got = *piece;
  }
  const std::string_view read(buffer.data(), total);
  file.touched = false;

  ReadStep step;
  const auto differs = std::mismatch(tail.begin(), tail.end(), read.begin(), read.end());
  const auto same = static_cast<std::size_t>(differs.first - tail.begin());
  const std::size_t cut = known - same;
  const bool short_of_known = same == read.size() && cut > 0;
  if (file.shrunk && short_of_known) {  // not believed yet
    file.size = file.offset();          // nothing to read until the next look
    return step;
  }
  const std::string_view more = read.substr(same);
  const bool closes = more.empty() || kAfterCut.find(more.front()) != std::string_view::npos;
  step.displaced = cut > kLongestCut || (cut > 0 && ((same == 0 && !read.empty()) || !closes));
  if (step.displaced) return step;
  step.cut = cut;
  step.bytes = more;
  file.read.cut(cut);
  file.read.extend(step.bytes);
  if (step.bytes.empty() || file.offset() > file.size) file.size = file.offset();
  file.unread_when_cut = 0;
  if (file.passed && file.remote && !step.bytes.empty()) file.touched = true;
  return step;
}

std::uint64_t restart(TrackedFile& file) {
  file.read.clear();
  file.finished = false;
  file.touched = true;
  file.doubt = TrackedFile::Doubt::none;
  file.shrunk = false;
  file.shrunk_polls = 0;
  return std::exchange(file.unread_when_cut, 0);
}

}  // namespace trainwatch
