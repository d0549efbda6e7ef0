// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tail/tracked_file.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include "pipeline/tail/fingerprint_search.h"

namespace trainwatch {
namespace {

// Known bytes are read again together with new ones, so at least this much is requested even from a
// file system that returns little at a time.
constexpr std::size_t kWorthWhile = 4096;
constexpr std::string_view kAfterCut = " \r\n]}";  // anything else is new content

std::size_t common_prefix(std::string_view a, std::string_view b) {
  const auto differs = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<std::size_t>(differs.first - a.begin());
}

}  // namespace

bool observe(TrackedFile& file, const FileStat& stat, Nanos patience, Nanos now) {
  file.presence.linked = stat.linked;
  if (stat.size != file.progress.size || stat.modified_ns != file.progress.modified_ns) {
    file.presence.changed = now;
  }
  const bool shorter = file.presence.remote && stat.size < file.offset();
  file.presence.shorter.set(shorter, now);
  file.presence.shrunk = shorter && !file.presence.shorter.held_for(patience, now);
  if (file.presence.shrunk) return file.unread();
  // A finished file has no decoder any more: only growth matters, not a rewritten end.
  const bool rewritten =
      stat.modified_ns != file.progress.modified_ns && file.offset() > 0 && !file.phase.finished();
  if (stat.size < file.offset() || rewritten) file.progress.touched = true;
  if (stat.size < file.progress.size && file.progress.size > file.offset()) {
    file.progress.unread_when_cut = file.progress.size - file.offset();
  }
  file.progress.size = stat.size;
  file.progress.modified_ns = stat.modified_ns;
  return file.unread();
}

Result<ReadStep> read_on(TrackedFile& file, std::span<char> buffer) {
  assert(file.presence.handle != nullptr && buffer.size() > Fingerprint::kTail);
  const std::string_view tail = file.progress.read.tail();
  const std::size_t known = tail.size();
  buffer = buffer.first(buffer.size() - Fingerprint::kTail + known);
  std::size_t total = 0;
  // Stops at the last known size; if that is not beyond the offset, at the end of the file.
  const std::uint64_t unread =
      file.progress.size > file.offset() ? file.progress.size - file.offset() : kWorthWhile;
  const std::size_t enough =
      std::min(known + std::min<std::uint64_t>(unread, kWorthWhile), buffer.size());
  for (std::size_t got = 1; got > 0 && total < enough; total += got) {  // short reads are normal
    const auto piece =
        read_piece(*file.presence.handle, file.offset() - known + total, buffer.subspan(total));
    if (!piece && total > known) break;  // return what there is first
    if (!piece) return piece.error();
    got = *piece;
  }
  const std::string_view read(buffer.data(), total);
  file.progress.touched = false;

  ReadStep step;
  const std::size_t same = read.starts_with(tail) ? known : common_prefix(tail, read);
  const std::size_t cut = known - same;
  const bool short_of_known = same == read.size() && cut > 0;
  if (file.presence.shrunk && short_of_known) {  // not accepted yet
    file.progress.size = file.offset();          // nothing to read until the next scan
    return step;
  }
  const std::string_view more = read.substr(same);
  const bool closes = more.empty() || kAfterCut.find(more.front()) != std::string_view::npos;
  step.replaced = cut > kLongestCut || (cut > 0 && ((same == 0 && !read.empty()) || !closes));
  if (step.replaced) return step;
  step.cut = cut;
  step.bytes = more;
  file.progress.read.cut(cut);
  file.progress.read.extend(step.bytes);
  if (step.bytes.empty() || file.offset() > file.progress.size) file.progress.size = file.offset();
  file.progress.unread_when_cut = 0;
  if (file.presence.passed && file.presence.remote && !step.bytes.empty())
    file.progress.touched = true;
  return step;
}

std::uint64_t restart(TrackedFile& file) {
  file.progress.read.clear();
  file.phase.on(PhaseEvent::restarted);
  file.progress.touched = true;
  file.progress.doubt = TrackedFile::Progress::Doubt::none;
  file.presence.shrunk = false;
  file.presence.shorter.clear();
  return std::exchange(file.progress.unread_when_cut, 0);
}

Status note_head(OpenFile& handle, TrackedFile& file) {
  std::array<char, Fingerprint::kTail> bytes{};
  const auto head = read_fully(handle, 0, bytes);
  if (!head) return head.error();
  const std::string_view seen = head->substr(0, head->size() - std::min(head->size(), kLongestCut));
  if (seen.starts_with(file.progress.head)) file.progress.head = seen;
  return success();
}

}  // namespace trainwatch
