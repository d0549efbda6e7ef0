// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine/ingest.h"

#include <algorithm>
#include <cassert>
#include <functional>
#include <limits>
#include <utility>

#include "pipeline/decode/formats/format_catalog.h"
#include "pipeline/timestamps/event_time.h"
#include "trainwatch/valid_text.h"

namespace trainwatch {
namespace {

constexpr std::size_t kSampleBytes = 256;
constexpr std::string_view kConsole = "console";  // its lines need no time of their own

// From the first start to the last end of what a cycle shows; the end is before the start if that
// is nothing.
Interval extent(const CycleTrace& cycle) {
  Interval all{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()};
  const auto see = [&all](const auto& rows) {
    for (const auto& row : rows) {
      all.start_ns = std::min(all.start_ns, row.start_ns);
      all.end_ns = std::max(all.end_ns, row.end_ns());
    }
  };
  see(cycle.device);
  see(cycle.launches);
  see(cycle.annotations);
  see(cycle.steps);
  return all;
}

}  // namespace

Ingest::Ingest(Engine& engine, IngestOptions options)
    : engine_(engine),
      options_(std::move(options)),
      contexts_(options_.contexts),
      memory_(options_.decode_bytes),
      filter_(options_.time) {
  engine_.interner().set_limits(options_.names);
}

Ingest::~Ingest() = default;

FileContext Ingest::context_of(FileId id, const File& file) {
  const KnownFile& known = file.known;
  static const WatchRoot kNone;
  const WatchRoot* const found = root_of(known.path, options_.roots);
  const WatchRoot& root = found == nullptr ? kNone : *found;
  FileContext context{
      id,
      known.lane,
      known.path,
      job_of_file(file),
      root.rank,
      engine_.interner(),
      *this,
      options_.list_directory,
      this,
      root.default_node,
      root.default_rank,
      {},
      this,
      this,
      [this](const std::string& path, std::size_t most) { return read_file(path, most); },
      this};
  context.naming = this;
  context.searches = &searches_;
  return context;
}

std::unique_ptr<FileDecoder> Ingest::make_decoder(FileId id, const File& file) {
  return std::make_unique<FileDecoder>(context_of(id, file),
                                       format_catalog(options_.declared.get()),
                                       std::vector<PrefixDeduplicator::Candidate>{},
                                       [this](FileId plain) { return supersede(plain); });
}

// Another file continues its content.
std::unique_ptr<FileDecoder> Ingest::supersede(FileId id) {
  const auto entry = files_.find(id);
  if (entry == files_.end()) return nullptr;
  File& file = entry->second;
  file.superseded = true;
  changed_files_.insert(id);
  times_.superseded(id, decoding_);
  File& successor = changing(decoding_);
  successor.run = file.run;
  successor.twin = file.twin;
  if (file.decoder == nullptr) go_on(id, file);
  std::unique_ptr<FileDecoder> decoder = std::move(file.decoder);
  forget_decoder(id, file);
  return decoder;
}

Ingest::File& Ingest::changing(FileId id) {
  const auto entry = files_.find(id);
  assert(entry != files_.end());
  changed_files_.insert(id);
  return entry->second;
}

void Ingest::opened(const KnownFile& known, const std::string& lane,
                    const std::vector<FileId>& repeated) {
  Lane& its_lane = lanes_[known.lane];
  its_lane.saved.lane = known.lane;
  its_lane.saved.name = lane;
  changed_lanes_.insert(known.lane);
  const auto [entry, is_new] = files_.try_emplace(known.file);
  if (is_new) ++its_lane.files;
  if (is_new) times_.clear(known.file);
  File& file = entry->second;
  forget_decoder(known.file, file);
  file.known = known;
  if (is_new) name_run_of(known, file);
  changed_files_.insert(known.file);
  file.seen_in = engine_.last_seen().round();
  std::vector<PrefixDeduplicator::Candidate> candidates;
  for (const FileId id : repeated) {
    const auto other = files_.find(id);
    if (other == files_.end() || other->second.superseded) continue;
    const Fingerprint& contents = contents_of(other->second);
    if (!contents.proves_nothing()) candidates.push_back({id, contents});
  }
  file.decoder = std::make_unique<FileDecoder>(
      context_of(known.file, file), format_catalog(options_.declared.get()), std::move(candidates),
      [this](FileId other) { return supersede(other); });
  ++sources_[known.source].generations;
}

const Fingerprint& Ingest::contents_of(const File& file) {
  const Fingerprint& inflated = file.decoder != nullptr ? file.decoder->inflated() : file.inflated;
  return inflated.offset() > 0 ? inflated : file.read;
}

void Ingest::data(FileId id, const AppendedBytes& appended) {
  const auto [bytes, written, read, to_end] = appended;
  File& file = changing(id);
  file.error.clear();
  const std::uint64_t offset = file.read.offset();
  file.read = read;
  file.finished = false;
  file.bytes += bytes.size();
  file.seen_in = engine_.last_seen().round();
  sources_[file.known.source].bytes += bytes.size();
  if (file.superseded) return;
  if (file.decoder != nullptr || go_on(id, file)) {
    file.decoder->written(written);
    feed(id, file, bytes);
  } else {
    grown_unknown(id, file, offset, bytes, written);
  }
  if (to_end) read_to_end(file);
  const std::string job = job_of_file(file);
  engine_.read(job, written);
  if (to_end && file.format == kConsole) engine_.written(job, written);
}

// The decoder state of the file was not kept. Without it, times and names would be wrong, except in
// formats whose lines are self-contained.
void Ingest::grown_unknown(FileId id, File& file, std::uint64_t offset, std::string_view bytes,
                           Time written) {
  const Format* const format = find_format(format_catalog(options_.declared.get()), file.format);
  const bool inside = file.inflated.offset() > 0;  // of a compressed stream
  if (format == nullptr || !format->lines || inside) {
    sources_[file.known.source].skipped += bytes.size();
    if (!std::exchange(file.refused, true)) reject(id, RejectReason::cardinality, bytes);
    return;
  }
  if (file.within_line) {
    const std::size_t rest = std::min(bytes.find('\n'), bytes.size() - 1) + 1;
    file.within_line = bytes[rest - 1] != '\n';
    sources_[file.known.source].skipped += rest;
    bytes.remove_prefix(rest);
    if (bytes.empty()) return;
    offset += rest;
  }
  forget_decoder(id, file);
  file.decoder = make_decoder(id, file);
  file.decoder_begins = offset;
  file.decoder->written(written);
  feed(id, file, bytes);
}

// One writer's files, in the folder below the root that is a job's where several share a root.
Holder Ingest::holder_of(const File& file) const {
  const std::string_view path = file.known.path;
  const WatchRoot* const root = root_of(path, options_.roots);
  const std::size_t below = root == nullptr ? path.rfind('/') : root->path.size() + 1;
  const std::size_t end = std::min(path.find('/', below), path.rfind('/'));
  const auto lane = lanes_.find(file.known.lane);
  const std::string_view name = lane == lanes_.end() ? path : lane->second.saved.name;
  const std::hash<std::string_view> hash;
  return {static_cast<std::uint32_t>(hash(name)),
          static_cast<std::uint32_t>(hash(path.substr(0, end)))};
}

void Ingest::begin_decoding(FileId id, const File& file) {
  decoding_ = id;
  engine_.interner().set_holder(holder_of(file));
  left_out_ = engine_.interner().dropped();
}

// Of compressed bytes few at a time, so that the events of no bomb are in memory at once.
void Ingest::feed(FileId id, File& file, std::string_view bytes) {
  constexpr std::size_t kCompressedBytes = std::size_t{8} << 10U;  // at most 8 MiB of contents
  begin_decoding(id, file);
  const std::uint64_t end = file.read.offset();
  const WatchedDecode watched(options_.decode_watch, file.known.path, end - bytes.size(), end);
  do {
    const bool plain = file.decoder->is_plain();
    const std::string_view part = bytes.substr(0, plain ? bytes.size() : kCompressedBytes);
    bytes.remove_prefix(part.size());
    const std::uint64_t inflated = file.decoder->inflated().offset();
    file.decoder->feed(part, batch_);
    if (bytes.empty() && file.decoder->complete()) file.decoder->finish(batch_);
    deliver(id, file);
    // The size of an inflater, and of a new decoder, does not depend on the bytes that were fed.
    if (bytes.empty() && !(plain && memory_.knows(id))) {
      memory_.measured(id, file.decoder->held());
    } else {
      memory_.fed(id, part.size() + file.decoder->inflated().offset() - inflated);
    }
    limit_memory();
  } while (!bytes.empty() && file.decoder != nullptr);
  if (file.decoder == nullptr) sources_[file.known.source].skipped += bytes.size();
}

// The decoder that asks for it may hold what is in it.
std::optional<std::string> Ingest::read_file(const std::string& path, std::size_t most) {
  std::optional<std::string> text;
  if (options_.read_file) text = options_.read_file(path, most);
  if (text) memory_.fed(decoding_, text->size());
  return text;
}

// The file that holds most is given up, so that all others can be read on.
void Ingest::limit_memory() {
  while (memory_.full()) {
    const FileId id = memory_.largest();
    if (memory_.is_measured(id)) {
      give_up(id, changing(id));
    } else {
      memory_.measured(id, files_.at(id).decoder->held());
    }
  }
}

// Ends the contents of the file here. Lines that follow are read by a new decoder.
void Ingest::give_up(FileId id, File& file) {
  const FileId before = decoding_;
  finish(id, file);
  contexts_.drop(id);
  file.within_line = !file.read.tail().ends_with('\n');
  file.refused = true;
  ++file.left_out;
  ++sources_[file.known.source].left_out;
  reject(id, RejectReason::cardinality, "more than all files may make trainwatch hold");
  begin_decoding(before, files_.at(before));
}

void Ingest::deliver(FileId id, File& file) {
  file.format = file.decoder->format();
  const std::uint64_t read = file.decoder->records() - file.decoder_records;
  file.decoder_records += read;
  file.records += read;
  Source& source = sources_[file.known.source];
  source.records += read;
  const std::uint64_t all_left_out = engine_.interner().dropped();
  const std::uint64_t left_out = all_left_out - std::exchange(left_out_, all_left_out);
  file.left_out += left_out;
  source.left_out += left_out;
  // A truncated record no longer counts as skipped once the file continues.
  const std::uint64_t all_skipped = std::max(file.decoder->skipped(), file.decoder_skipped);
  source.skipped += all_skipped - std::exchange(file.decoder_skipped, all_skipped);
  // Not at the end of a file that ends within a record, which may be completed.
  if (read > 0 || !batch_.empty()) note_times(id, file);
  if (batch_.empty()) return;
  note_scalars(file);
  filter_.filter(file.known.lane, batch_, rejected_events_);
  evaluate(id);
}

void Ingest::note_scalars(File& file) {
  for (Event& event : batch_) {
    auto* const scalar = std::get_if<Scalar>(&event);
    if (scalar == nullptr) continue;
    scalar->lane = file.known.lane;
    if (!scalar->timed) file.untimed[scalar->subject] = true;
  }
}

void Ingest::read_to_end(File& file) {
  for (const auto& [subject, untimed] : file.untimed) engine_.read_to_end(subject);
  file.untimed.clear();
}

void Ingest::evaluate(FileId id) {
  for (const RejectedEvent& rejected : rejected_events_) {
    reject(id, rejected.reason, event_text(rejected.event, engine_.interner()));
  }
  rejected_events_.clear();
  if (!batch_.empty()) engine_.push(batch_);
  batch_.clear();
}

void Ingest::renamed(const KnownFile& known) {
  File& file = changing(known.file);
  file.known = known;
  if (file.decoder != nullptr) file.decoder->renamed(known.path);
}

void Ingest::cut_back(FileId id, std::uint64_t bytes) {
  File& file = changing(id);
  file.read.cut(bytes);
  if (file.superseded) return;
  if (file.decoder != nullptr || go_on(id, file)) file.decoder->cut_back(bytes);
}

void Ingest::restarted(FileId id, std::uint64_t lost) {
  File& file = changing(id);
  std::string delivered = delivered_of(id, file);
  finish(id, file);
  forget_decoder(id, file);
  filter_.reread(file.known.lane);
  file.read.clear();
  file.finished = false;
  times_.clear(id);
  file.superseded = false;  // that referred to its former content
  Source& source = sources_[file.known.source];
  ++source.generations;
  ++source.truncations;
  source.bytes_lost += lost;
  file.records = 0;
  file.decoder = make_decoder(id, file);
  file.decoder->rewritten(std::move(delivered));
}

void Ingest::finished(FileId id) {
  File& file = changing(id);
  finish(id, file);
  file.read.shrink();
  file.finished = true;
}

void Ingest::finish_silent_files() {
  for (auto& [id, file] : files_) {
    if (file.decoder == nullptr || !engine_.last_seen().is_silent(file.seen_in)) continue;
    changed_files_.insert(id);
    finish(id, file);
    filter_.end_of_input(file.known.lane, batch_, rejected_events_);
    evaluate(id);
  }
  forget_times();
}

void Ingest::forgotten(FileId id, bool retired) {
  File& file = changing(id);
  finish(id, file);
  Lane& lane = lanes_.at(file.known.lane);
  if (retired) {
    lane.saved.forgotten_path = file.known.path;
    changed_lanes_.insert(file.known.lane);
  }
  if (--lane.files == 0) {
    filter_.end_of_input(file.known.lane, batch_, rejected_events_);
    evaluate(id);
  }
  if (retired) times_.retire(id, window_of(file));
  times_.clear(id);
  contexts_.drop(id);
  files_.erase(id);
  changed_files_.erase(id);
  forgotten_.push_back(id);
}

void Ingest::lane_forgotten(LaneId lane) {
  lanes_.erase(lane);
  changed_lanes_.erase(lane);
  filter_.forget(lane);
  forgotten_lanes_.push_back(lane);
}

void Ingest::finish(FileId id, File& file) {
  if (file.decoder == nullptr) return;
  begin_decoding(id, file);
  const std::uint64_t end = file.read.offset();
  const WatchedDecode watched(options_.decode_watch, file.known.path, end, end);
  file.decoder->finish(batch_);
  deliver(id, file);
  filter_.end_of_file(file.known.lane, batch_, rejected_events_);
  evaluate(id);
  read_to_end(file);
  keep_context(id, *file.decoder);
  file.inflated = file.decoder->inflated();
  file.inflated.shrink();
  file.decoder.reset();  // freeing its buffers is worth more than a quick resumption
  memory_.forget(id);
  file.definitions = 0;
}

void Ingest::forget_decoder(FileId id, File& file) {
  file.decoder.reset();
  memory_.forget(id);
  contexts_.drop(id);
  file.decoder_begins = 0;
  file.decoder_records = 0;
  file.decoder_skipped = 0;
  file.definitions = 0;
  file.decoder_rejects = {};
  file.within_line = false;
  file.refused = false;
}

void Ingest::read_error(FileId id, const std::string& what) {
  File& file = changing(id);
  file.error = what;
  ++sources_[file.known.source].read_errors;
}

void Ingest::end_of_input() {
  for (auto& [id, file] : files_) {
    if (file.decoder != nullptr) changed_files_.insert(id);
    finish(id, file);
  }
  for (const auto& [id, file] : files_) {
    filter_.end_of_input(file.known.lane, batch_, rejected_events_);
    evaluate(id);
  }
  engine_.end_of_input();
}

void Ingest::reject(FileId id, RejectReason reason, std::string_view sample) {
  File& file = files_[id];
  ++file.rejects;
  ++file.decoder_rejects[static_cast<std::size_t>(reason)];
  ++sources_[file.known.source].rejects[static_cast<std::size_t>(reason)];
  if (rejected_.size() == kRejectsKept) rejected_.pop_front();
  rejected_.push_back({file.known.path, reason, valid_text(sample.substr(0, kSampleBytes))});
}

// Cycles of a rank are numbered consecutively, whatever lane or file they come from.
void Ingest::cycle(CycleTrace& cycle) {
  cycle.number = cycles_emitted_[cycle.subject]++;
  cycles_changed_ = true;
  if (const Interval times = extent(cycle); times.end_ns >= times.start_ns) {
    times_.add_trace(decoding_, times.start_ns, times.end_ns, cycle.base_ns,
                     engine_.interner().subjects[cycle.subject].rank);
  }
  engine_.on(cycle);
}

void Ingest::dump(const std::string& job, RankDump dump) {
  engine_.on(job, std::move(dump));
}

void Ingest::watchdog(const std::string& job, WatchdogLine line) {
  engine_.on(job, std::move(line));
}

SourceNote Ingest::add(RunNote note) {
  SourceNote event{note.at, files_.at(decoding_).known.lane, SourceNote::Kind::run_note,
                   note.subject};
  event.number = engine_.announce(std::move(note));
  return event;
}

}  // namespace trainwatch
