// SPDX-License-Identifier: Apache-2.0
#include "pipeline/timeline/window_reader.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "pipeline/decode/formats/format_catalog.h"
#include "pipeline/decode/path_metadata.h"
#include "pipeline/timeline/file_contents.h"
#include "pipeline/timeline/sample_reader.h"
#include "pipeline/timeline/writer_name.h"

namespace trainwatch {
namespace {

// Between two records of a document: a part may begin with it, and the one before may end with it.
constexpr std::string_view kBetween = ", \n\r\t";
constexpr std::string_view kSpace = " \n\r\t";

constexpr std::size_t kPieceBytes = std::size_t{256} << 10U;
constexpr std::uint64_t kToTheEnd = std::numeric_limits<std::uint64_t>::max();

std::string with_job(const std::string& job, std::string name, bool several) {
  return several && !job.empty() ? job + '/' + name : name;
}

// Names and events in the order of the file; names behind the last event are not needed.
std::vector<ByteRange> parts_of(const FileWindow& file, bool lines) {
  std::vector<ByteRange> all = file.events;
  if (!lines && !file.events.empty()) {
    std::ranges::copy_if(file.definitions, std::back_inserter(all), [&](const ByteRange& range) {
      return range.begin < file.events.back().end;
    });
  }
  std::ranges::sort(all, {}, &ByteRange::begin);
  std::vector<ByteRange> joined;
  for (const ByteRange& range : all) {
    if (!joined.empty() && joined.back().end >= range.begin) {
      joined.back().end = std::max(joined.back().end, range.end);
    } else {
      joined.push_back(range);
    }
  }
  return joined;
}

}  // namespace

std::optional<std::int64_t> tensorflow_start_ns(FileSystem& files, const std::string& path) {
  const auto entries = files.list(metadata_directory(path));
  if (!entries) return std::nullopt;
  std::set<std::string> names;
  for (const DirectoryEntry& entry : *entries) names.insert(entry.name);
  for (const std::string& name : names) {
    if (const auto start = metadata_start_ns(name)) return start;
  }
  return std::nullopt;
}

WindowReader::WindowReader(FileSystem& files, TrackTable& tracks, TimelineSink& sink,
                           TimeWindow window, std::uint64_t most_bytes, Begin begin,
                           PhaseReader::TakeStep step)
    : files_(files),
      tracks_(tracks),
      sink_(sink),
      window_(window),
      bytes_left_(most_bytes),
      begin_(std::move(begin)),
      step_(std::move(step)) {}

void WindowReader::read(const std::vector<FileWindow>& windows) {
  several_jobs_ = std::ranges::any_of(
      windows, [&](const FileWindow& file) { return file.job != windows.front().job; });
  for (std::size_t i = 0; i < windows.size(); ++i) read(windows[i], i);
}

void WindowReader::read(const FileWindow& file, std::size_t number) {
  const auto reader = reader_of(file, number);
  if (reader == nullptr) return;
  if (bytes_left_ == 0) {
    ++losses_.files_too_far;
    return;
  }
  const auto open = files_.open(file.path);
  const auto stat = open ? (*open)->stat() : Result<FileStat>(open.error());
  if (!stat || stat->identity != file.identity) {
    ++losses_.files_gone;
    return;
  }
  if (begin_) begin_(file);
  const Status read =
      file.whole ? read_whole(**open, file, *reader) : read_parts(**open, file, *reader);
  reader->finish();
  losses_.records += reader->left_out();
  if (!read) ++losses_.files_broken;
}

std::unique_ptr<EventReader> WindowReader::reader_of(const FileWindow& file, std::size_t number) {
  const std::string job = several_jobs_ ? file.job : "";
  const std::string rank = "rank " + std::to_string(file.rank);
  const bool has_rank = file.rank != kNoRank;
  if (file.format == system_metrics_format.name)
    return std::make_unique<SampleReader>(interner_, tracks_, sink_, window_, file.path, job);
  if (file.format == chrome_trace_format.name) {
    const std::string name = has_rank ? rank : std::string(base_name(file.path));
    const std::size_t group = tracks_.group(with_job(job, name, several_jobs_));
    return std::make_unique<ProfilerReader>(tracks_, sink_, window_, group, number, file.base_ns);
  }
  std::int64_t base_ns = 0;
  std::string writer = has_rank ? rank : timeline_writer_name(file.path);
  if (file.format == tensorflow_trace_format.name) {
    base_ns = tensorflow_start_ns(files_, file.path).value_or(0);
    if (!has_rank) writer = tensorflow_node(file.path);
  } else if (file.format != timeline_format.name) {
    return nullptr;
  }
  return std::make_unique<PhaseReader>(tracks_, sink_, window_,
                                       with_job(job, writer, several_jobs_), base_ns, step_);
}

Status WindowReader::read_parts(OpenFile& open, const FileWindow& file, EventReader& reader) {
  const Format* const format = find_format(format_catalog(), file.format);
  const bool lines = format != nullptr && format->lines;
  char last = '\0';  // that is no space
  for (const ByteRange& range : parts_of(file, lines)) {
    bool begins = range.begin > 0 && !lines;
    const Status read = read_range(open, range, [&](std::string_view piece) {
      if (std::exchange(begins, false)) {
        piece.remove_prefix(std::min(piece.find_first_not_of(kBetween), piece.size()));
        if (last == '}') reader.feed(",");
      }
      const std::size_t at = piece.find_last_not_of(kSpace);
      if (at != std::string_view::npos) last = piece[at];
      reader.feed(piece);
      return true;
    });
    if (!read) return read;
  }
  return success();
}

Status WindowReader::read_whole(OpenFile& open, const FileWindow& file, EventReader& reader) {
  FileContents contents(file.path, [&reader](std::string_view piece) {
    reader.feed(piece);
    return true;
  });
  const Status read = read_range(
      open, {0, kToTheEnd}, [&contents](std::string_view piece) { return contents.feed(piece); });
  contents.finish();
  return read;
}

Status WindowReader::read_range(OpenFile& open, ByteRange range,
                                const std::function<bool(std::string_view)>& take) {
  buffer_.resize(kPieceBytes);
  while (range.begin < range.end) {
    const std::uint64_t wanted = std::min({std::uint64_t{kPieceBytes}, range.size(), bytes_left_});
    if (wanted == 0) return Error{"beyond the bytes that may be read"};
    const auto count = open.read(range.begin, {buffer_.data(), wanted});
    if (!count) return count.error();
    if (*count == 0) return success();
    range.begin += *count;
    bytes_left_ -= *count;
    if (!take({buffer_.data(), *count})) return success();
  }
  return success();
}

}  // namespace trainwatch
