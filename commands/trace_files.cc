#include "commands/trace_files.h"

#include <algorithm>
#include <map>

#include "daemon/app/watch_roots.h"
#include "pipeline/tail/discovery.h"
#include "pipeline/tail/lane.h"

namespace trainwatch {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{256} << 10U;

// The lower, the rather: the file itself, compressed, still being written.
int preference(const ReadOrder& order) {
  if (order.path == order.base) return 0;
  return is_compressed(order) ? 1 : 2;
}

}  // namespace

std::vector<TraceFile> trace_files(FileSystem& files, const std::vector<std::string>& paths,
                                   const Config& config) {
  const std::vector<WatchRoot> roots = replay_input(paths, config).roots;
  Listing listing;
  list_roots(files, roots, tail_limits(config.tail).max_depth, listing);

  struct Found {
    ReadOrder order;
    TraceFile file;
  };
  std::map<std::string, Found> by_base;
  for (const std::string& path : listing.files) {
    ReadOrder order = place_of(path).order;
    const std::string base = order.base + ' ' + std::to_string(order.age);
    const Found found{order, {path, root_of(path, roots)->rank}};
    const auto [place, added] = by_base.try_emplace(base, found);
    if (!added && preference(order) < preference(place->second.order)) place->second = found;
  }
  std::vector<Found> all;
  all.reserve(by_base.size());
  for (auto& [base, found] : by_base) all.push_back(std::move(found));
  std::sort(all.begin(), all.end(),
            [](const Found& a, const Found& b) { return a.order < b.order; });
  std::vector<TraceFile> ordered;
  ordered.reserve(all.size());
  for (Found& found : all) ordered.push_back(std::move(found.file));
  return ordered;
}

Status read_file(FileSystem& files, const std::string& path,
                 const std::function<bool(std::string_view)>& take) {
  const auto file = files.open(path);
  if (!file) return Error{path + ": " + file.error().message};
  std::vector<char> buffer(kChunkBytes);
  for (std::uint64_t offset = 0;;) {
    const auto count = (*file)->read(offset, buffer);
    if (!count) return Error{path + ": " + count.error().message};
    if (*count == 0 || !take({buffer.data(), *count})) return success();
    offset += *count;
  }
}

}  // namespace trainwatch
