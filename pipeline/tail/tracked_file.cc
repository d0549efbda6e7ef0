#include "pipeline/tail/tracked_file.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

namespace trainwatch {
namespace {

// smdebug takes ",\n" back and writes "\n]"; Python's trace export takes ", " back and writes "]".
constexpr std::size_t kLongestCut = 2;

void remember_tail(TrackedFile& file, std::string_view bytes) {
  if (bytes.size() >= TrackedFile::kTail) {
    file.tail_size = 0;
    bytes.remove_prefix(bytes.size() - TrackedFile::kTail);
  }
  const std::size_t keep = std::min(file.tail_size, TrackedFile::kTail - bytes.size());
  char* const tail = file.tail.data();
  std::memmove(tail, tail + (file.tail_size - keep), keep);
  std::memcpy(tail + keep, bytes.data(), bytes.size());
  file.tail_size = keep + bytes.size();
}

ReadStep restart(TrackedFile& file) {
  ReadStep step;
  step.restarted = true;
  step.lost = std::exchange(file.unread_when_cut, 0);
  file.offset = 0;
  file.tail_size = 0;
  file.touched = true;
  return step;
}

}  // namespace

bool observe(TrackedFile& file, const FileStat& stat) {
  // A finished file's decoder is gone: only growth is worth hearing of, not a rewritten end.
  const bool rewritten = stat.modified_ns != file.modified_ns && file.offset > 0 && !file.finished;
  if (stat.size < file.offset || rewritten) file.touched = true;
  if (stat.size < file.size && file.size > file.offset) {
    file.unread_when_cut = file.size - file.offset;
  }
  file.size = stat.size;
  file.modified_ns = stat.modified_ns;
  file.linked = stat.linked;
  return file.unread();
}

Result<ReadStep> read_on(TrackedFile& file, std::span<char> buffer) {
  assert(file.handle != nullptr && buffer.size() > TrackedFile::kTail);
  const std::size_t known = file.tail_size;
  buffer = buffer.first(buffer.size() - TrackedFile::kTail + known);
  std::size_t total = 0;
  for (std::size_t got = 1; got > 0 && total <= known; total += got) {  // short reads are normal
    const auto piece = file.handle->read(file.offset - known + total, buffer.subspan(total));
    if (!piece) return piece.error();
    got = *piece;
  }
  const std::string_view read(buffer.data(), total);
  file.touched = false;

  const std::string_view tail(file.tail.data(), known);
  const auto differs = std::mismatch(tail.begin(), tail.end(), read.begin(), read.end());
  const auto same = static_cast<std::size_t>(differs.first - tail.begin());
  const std::size_t cut = known - same;
  if (cut > kLongestCut || (cut > 0 && same == 0 && !read.empty())) return restart(file);

  ReadStep step;
  step.cut = cut;
  step.bytes = read.substr(same);
  file.offset -= cut;
  file.tail_size = same;
  remember_tail(file, step.bytes);
  file.offset += step.bytes.size();
  if (step.bytes.empty() || file.offset > file.size) file.size = file.offset;
  file.unread_when_cut = 0;
  return step;
}

}  // namespace trainwatch
