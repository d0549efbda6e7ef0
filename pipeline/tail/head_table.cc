// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tail/head_table.h"

#include <algorithm>
#include <span>
#include <utility>

#include "pipeline/tail/lane.h"

namespace trainwatch {
namespace {

// Read at once; of most logs the first piece is enough.
constexpr std::size_t kPiece = std::size_t{16} << 10U;
// Of compressed files no more is looked at: it may be a thousand times as much.
constexpr std::size_t kCompressedHead = kPiece;
// A look at a small file costs about as much as reading so many bytes.
constexpr std::uint64_t kLeastCost = std::uint64_t{16} << 10U;
// A growing file is looked at so often, then only once it has grown by an eighth.
constexpr unsigned kFreeLooks = 64;
constexpr Nanos kBetweenLooks = std::chrono::milliseconds(900);

}  // namespace

HeadTable::HeadTable(FileSystem& files, const TailLimits& limits, const PatienceClock& clock,
                     ContentProbe probe)
    : files_(files), limits_(limits), clock_(clock), probe_(std::move(probe)) {}

void HeadTable::begin_scan() {
  spent_ = 0;
  constexpr std::uint64_t kSeldom = 16;
  if (++scans_ % kSeldom == 0) forget_unseen(limits_.gone);
  // Names that come and go fast.
  if (names_.size() > 4 * limits_.max_candidates) forget_unseen(Nanos{1});
}

void HeadTable::forget_unseen(Nanos patience) {
  const auto is_old = [&](const auto& entry) {
    return clock_.now() - entry.second.seen >= patience;
  };
  std::erase_if(names_, is_old);
  std::erase_if(heads_, is_old);
}

FileHead* HeadTable::visit(const std::string& path, NameClaim claim) {
  const Nanos now = clock_.now();
  const auto known = names_.find(path);
  if (known != names_.end() && (now < known->second.next_look || known->second.scan == scans_)) {
    if (const auto head = heads_.find(known->second.identity); head != heads_.end()) {
      known->second.seen = head->second.seen = now;
      return &head->second;
    }
  }
  const auto stat = files_.stat(path);
  if (!stat) return nullptr;
  Name& name = names_[path];
  name = {stat->identity, Nanos{0}, now, scans_};
  const auto [entry, is_new] = heads_.try_emplace(stat->identity);
  FileHead& head = entry->second;
  // A link with a name that says more counts; one that says less does not, nor undoes it.
  if (is_new || claim < head.claim) head = {.identity = stat->identity, .claim = claim};
  // Begun anew: what it was decides nothing.
  if (stat->size < head.size) {
    head = {.identity = stat->identity, .claim = head.claim, .looks = head.looks};
  }
  if (stat->size != head.size || is_new) head.changed = now;
  head.size = stat->size;
  head.seen = now;
  if (now - head.changed >= limits_.rest_after) {  // not all in the same scan
    const auto share = static_cast<std::int64_t>(IdentityHash{}(stat->identity) >> 40U) % 8;
    name.next_look = now + limits_.rest / 2 + share * limits_.rest / 16;
  }
  return &head;
}

bool HeadTable::is_due(const FileHead& head) const {
  if (head.settled || head.size == head.looked_size) return false;
  if (head.looks == 0) return true;
  if (clock_.now() - head.looked_at < kBetweenLooks) return false;
  return head.looks < kFreeLooks || head.size >= head.looked_size + head.looked_size / 8;
}

bool HeadTable::look(const std::string& path, FileHead& head) {
  if (!is_due(head)) return true;
  if (spent_ >= limits_.scan_head_bytes) return false;
  ++looks_;
  ++head.looks;
  head.looked_at = clock_.now();
  head.looked_size = head.size;
  const auto file = files_.open(path);  // another file, or none that may be read: when it changes
  if (!file) {
    spent_ += kLeastCost;
    return true;
  }
  const auto stat = (*file)->stat();
  if (stat && stat->identity == head.identity) read(**file, path, head);
  return true;
}

void HeadTable::read(OpenFile& file, const std::string& path, FileHead& head) {
  const std::size_t most =
      path.ends_with(".gz") ? std::min(kCompressedHead, limits_.head_bytes) : limits_.head_bytes;
  const auto look = probe_(path);
  buffer_.resize(kPiece);
  std::uint64_t offset = 0;
  for (bool more = true; more && offset < most;) {
    const std::size_t wanted = std::min<std::uint64_t>(kPiece, most - offset);
    const auto n = file.read(offset, std::span(buffer_).first(wanted));
    if (!n || *n == 0) break;
    offset += *n;
    more = look->feed({buffer_.data(), *n});
  }
  bytes_ += offset;
  spent_ += std::max(offset, kLeastCost);
  head.content = look->content();
  head.looked_size = std::max(head.looked_size, offset);
  using Answer = HeadContent::Answer;
  const bool all = offset >= most;
  if (all && head.content.answer == Answer::nothing && head.claim == NameClaim::training) {
    head.content.answer = Answer::yes;  // as its name says: what a launcher prints may be long
  }
  head.settled = all || head.content.answer == Answer::no ||
                 head.content.records.size() >= HeadContent::kMostRecords;
}

void HeadTable::wake(const std::string& path) {
  if (const auto name = names_.find(path); name != names_.end()) name->second.next_look = Nanos{0};
}

bool HeadTable::awaits(const std::string& path) const {
  const auto name = names_.find(path);
  if (name == names_.end()) return false;
  const auto head = heads_.find(name->second.identity);
  return head != heads_.end() && head->second.fate == FileHead::Fate::open &&
         !head->second.settled && head->second.looks < kFreeLooks;
}

}  // namespace trainwatch
