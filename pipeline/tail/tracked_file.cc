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

// So many NULs at the end of a file are bytes that are still to come: space that was allocated in
// advance, or a page of a network file system whose contents come later. No format that is read
// ends in so many.
constexpr std::size_t kHole = 16;

// A hole may be filled within the same tick of the clock that stamps modifications: it is looked at
// again for so long.
constexpr auto kHoleIsNew = std::chrono::seconds(2);

std::size_t nuls_at_end(std::string_view bytes) {
  return bytes.size() - (bytes.find_last_not_of('\0') + 1);  // npos + 1 is 0
}

// Whether all that follows `bytes`, which end at `end`, is a hole as well.
bool ends_in_hole(OpenFile& handle, std::string_view bytes, std::uint64_t end, std::uint64_t size) {
  if (nuls_at_end(bytes) < kHole) return false;
  if (end >= size) return true;
  std::array<char, kHole> last{};
  const auto read = read_fully(handle, size - kHole, last);
  return read && nuls_at_end(*read) == read->size();
}

std::size_t common_prefix(std::string_view a, std::string_view b) {
  const auto differs = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<std::size_t>(differs.first - a.begin());
}

}  // namespace

bool observe(TrackedFile& file, const FileStat& stat, Nanos patience, Nanos now) {
  file.presence.linked = stat.linked;
  const std::uint64_t size =
      file.progress.hole_end > 0 ? file.progress.hole_end : file.progress.size;
  const bool changed = stat.size != size || stat.modified_ns != file.progress.modified_ns;
  if (changed) file.presence.changed = now;
  const bool same_hole =
      file.progress.hole_end > 0 && !changed && now - file.presence.changed >= kHoleIsNew;
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
  file.progress.size = same_hole ? file.offset() : stat.size;
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
  const std::uint64_t end = file.offset() - cut + more.size();
  const bool hole = ends_in_hole(*file.presence.handle, more, end, file.progress.size);
  if (hole) step.bytes.remove_suffix(nuls_at_end(more));
  file.progress.read.cut(cut);
  file.progress.read.extend(step.bytes);
  // What is left of the file comes with a later scan.
  file.progress.hole_end = hole ? file.progress.size : 0;
  const bool all = step.bytes.empty() || hole;
  if (all || file.offset() > file.progress.size) file.progress.size = file.offset();
  file.progress.unread_when_cut = 0;
  if (file.presence.passed && file.presence.remote && !step.bytes.empty())
    file.progress.touched = true;
  return step;
}

std::uint64_t restart(TrackedFile& file) {
  file.progress.read.clear();
  file.progress.hole_end = 0;
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
  std::string_view seen = head->substr(0, head->size() - std::min(head->size(), kLongestCut));
  if (const std::size_t nuls = nuls_at_end(*head); nuls >= kHole)
    seen = head->substr(0, head->size() - nuls);
  if (seen.starts_with(file.progress.head)) file.progress.head = seen;
  return success();
}

}  // namespace trainwatch
