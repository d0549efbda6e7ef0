// SPDX-License-Identifier: Apache-2.0
#include "commands/trace_files.h"

#include <algorithm>
#include <map>
#include <ostream>

#include "daemon/app/watch_roots.h"
#include "pipeline/tail/lane.h"
#include "pipeline/tail/watch_root.h"

namespace trainwatch {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{256} << 10U;

// Lower is better: plain, then .gz, then .tmp.
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
  std::vector<char> buffer(kBufferBytes);
  for (std::uint64_t offset = 0;;) {
    const auto count = (*file)->read(offset, buffer);
    if (!count) return Error{path + ": " + count.error().message};
    if (*count == 0 || !take({buffer.data(), *count})) return success();
    offset += *count;
  }
}

Result<std::unique_ptr<TraceOutput>> TraceOutput::to_file(const std::string& path) {
  auto file = FileReplacement::begin(path);
  if (!file) return file.error();
  std::unique_ptr<TraceOutput> output(new TraceOutput(std::move(*file)));
  if (path.ends_with(".gz")) {
    TraceOutput& to = *output;
    to.deflate_.emplace([&to](std::string_view bytes) { to.put(bytes); });
  }
  return output;
}

void TraceOutput::write(std::string_view text) {
  if (buffer_.size() + text.size() > kBufferBytes) flush();
  buffer_.append(text);
}

void TraceOutput::flush() {
  if (deflate_) {
    deflate_->write(buffer_);
  } else {
    put(buffer_);
  }
  buffer_.clear();
}

void TraceOutput::put(std::string_view bytes) {
  if (!status_) return;
  if (file_) {
    status_ = file_->write(bytes);
  } else if (!out_->write(bytes.data(), static_cast<std::streamsize>(bytes.size()))) {
    status_ = Error{"cannot write to standard output"};
  }
}

Status TraceOutput::finish() {
  flush();
  if (deflate_) deflate_->finish();
  if (out_ != nullptr && status_ && !out_->flush()) {
    status_ = Error{"cannot write to standard output"};
  }
  if (!status_) return status_;
  return file_ ? file_->commit() : success();
}

}  // namespace trainwatch
