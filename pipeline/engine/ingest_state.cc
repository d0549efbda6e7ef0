// SPDX-License-Identifier: Apache-2.0
// The saved form of Ingest: a row per file, lane and source.
#include <algorithm>
#include <cassert>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "pipeline/engine/ingest.h"
#include "trainwatch/changed_keys.h"

namespace trainwatch {
namespace {

constexpr std::string_view kFile = "file/";
constexpr std::string_view kLane = "lane/";
constexpr std::string_view kSource = "source/";
constexpr std::string_view kCycles = "cycles";
constexpr std::string_view kRunNames = "run_names";

void take_off(std::uint64_t count, std::uint64_t& of_file, std::uint64_t& of_source) {
  of_file -= std::min(count, of_file);
  of_source -= std::min(count, of_source);
}

void account(Ingest::File& file, StateIo& io) {
  io(file.known);
  io(file.read);
  io(file.inflated);
  io(file.finished);
  io(file.superseded);
  io(file.format);
  io(file.bytes);
  io(file.records);
  io(file.decoder_begins);
  io(file.decoder_records);
  io(file.decoder_skipped);
  io(file.rejects);
  io(file.decoder_rejects);
  io(file.seen_in);
  io(file.within_line);
  io(file.untimed);
  io(file.error);
  io(file.run);
  io(file.twin);
}

}  // namespace

void Ingest::save(StateRows& rows, bool all) {
  take_changed(files_, changed_files_, all, [&](FileId id, File& file) {
    rows.put(id_row(kFile, id), [&file, id, this](StateIo& io) {
      account(file, io);
      bool decoding = file.decoder != nullptr;
      io(decoding);
      if (decoding) return file.decoder->state(io);
      std::string context = contexts_.of(id);
      io(context);
    });
  });
  for (const FileId id : forgotten_) rows.remove(id_row(kFile, id));
  forgotten_.clear();
  for (const LaneId id : forgotten_lanes_) rows.remove(id_row(kLane, id));
  forgotten_lanes_.clear();
  take_changed(lanes_, changed_lanes_, all, [&rows](LaneId id, Lane& lane) {
    rows.put(id_row(kLane, id), [&lane](StateIo& io) { io(lane.saved); });
  });
  filter_.save(rows, all);
  times_.save(rows, all);
  if (names_.take_changed() || all) {
    rows.put(std::string(kRunNames), [this](StateIo& io) { io(names_); });
  }
  if (std::exchange(cycles_changed_, false) || all) {
    rows.put(std::string(kCycles), [this](StateIo& io) { io(cycles_emitted_); });
  }
  for (auto& [name, source] : sources_) {
    rows.put(std::string(kSource) + name, [&source = source](StateIo& io) { io(source); });
  }
}

bool Ingest::load_rows(const SavedState& saved) {
  const auto load_file = [&](std::string_view key, std::string_view value) {
    const auto id = id_in<FileId>(key);
    if (!id) return false;
    File& file = files_[*id];
    StateIo io = saved.open(value);
    account(file, io);
    bool decoding = false;
    io(decoding);
    if (!io.ok() || file.known.file != *id) return false;
    std::string context;
    if (decoding) {
      file.decoder = make_decoder(*id, file);
      file.decoder->state(io);
    } else {
      io(context);
    }
    return io.complete() && (context.empty() || load_context(*id, file, saved.open(context)));
  };
  const auto load_lane = [&](std::string_view key, std::string_view value) {
    const auto id = id_in<LaneId>(key);
    if (!id) return false;
    StateIo io = saved.open(value);
    io(lanes_[*id].saved);
    return io.complete();
  };
  const auto load_source = [&](std::string_view key, std::string_view value) {
    StateIo io = saved.open(value);
    io(sources_[std::string(key)]);
    return io.complete();
  };
  const auto load_cycles = [this](StateIo& io) { io(cycles_emitted_); };
  if (saved.rows.contains(kCycles) && !load_row(saved, kCycles, load_cycles)) return false;
  const auto load_names = [this](StateIo& io) { io(names_); };
  if (saved.rows.contains(kRunNames) && !load_row(saved, kRunNames, load_names)) return false;
  const bool loaded = for_rows(saved, kFile, load_file) && for_rows(saved, kLane, load_lane) &&
                      for_rows(saved, kSource, load_source) && filter_.load(saved) &&
                      times_.load(saved);
  for (const auto& [id, file] : files_) ++lanes_[file.known.lane].files;
  return loaded;
}

void Ingest::keep_context(FileId id, FileDecoder& decoder) {
  StateIo io = StateIo::saving();
  decoder.state(io);
  contexts_.keep(id, io.take());
}

// Through a decoder, so that saved ids become current ones.
bool Ingest::load_context(FileId id, const File& file, StateIo io) {
  const auto decoder = make_decoder(id, file);
  decoder->state(io);
  keep_context(id, *decoder);
  return io.complete();
}

// Restores the decoder of a finished file that grows again. False: its state was not kept.
bool Ingest::go_on(FileId id, File& file) {
  const std::string& context = contexts_.of(id);
  if (context.empty()) return false;
  file.decoder = make_decoder(id, file);
  StateIo io = StateIo::loading(context);
  file.decoder->state(io);
  assert(io.complete());
  contexts_.drop(id);
  return true;
}

// See FileDecoder::delivered.
std::string Ingest::delivered_of(FileId id, const File& file) {
  if (file.decoder != nullptr) return file.decoder->delivered();
  const std::string& context = contexts_.of(id);
  if (context.empty()) return {};
  const auto decoder = make_decoder(id, file);
  StateIo io = StateIo::loading(context);
  decoder->state(io);
  return decoder->delivered();
}

bool Ingest::load(const StoredRows& rows) {
  SameIds ids(engine_.interner());
  const bool loaded = load_rows({rows, &ids});
  for (auto& [id, file] : files_) {
    replay_partial_line(id, file);
    replay_cycle(id, file);
    // The roots may have changed or have other names.
    const WatchRoot* const root = root_of(file.known.path, options_.roots);
    if (root != nullptr) file.known.source = root->source;
  }
  measure_decoders();
  return loaded;
}

bool Ingest::load_aged(const SavedState& saved, Ingest& old) {
  if (!load_rows(saved)) return false;
  for (auto& [id, file] : files_) {
    if (file.decoder != nullptr) file.decoder->take_unsaved(*old.files_.at(id).decoder);
  }
  measure_decoders();
  rejected_.swap(old.rejected_);
  return true;
}

void Ingest::measure_decoders() {
  for (const auto& [id, file] : files_) {
    if (file.decoder != nullptr) memory_.measured(id, file.decoder->held());
  }
}

// Part of a first line does not prove that the file is still the same: it is read from its
// beginning.
void Ingest::replay_partial_line(FileId id, File& file) {
  const bool compressed = file.read.tail().starts_with('\x1f');
  const bool begun = file.decoder != nullptr && file.records == 0 && file.read.is_part_of_line();
  if (!compressed && begun) replay(id, file);
}

// Nothing of an incomplete cycle was emitted, and the state does not contain what was read of it:
// its document is read from its beginning, unless a compressed copy may be about to continue it. In
// that case the steps are emitted without a cycle.
void Ingest::replay_cycle(FileId id, File& file) {
  if (file.decoder == nullptr || file.decoder_begins > 0) return;
  if (!file.decoder->needs_replay()) return;
  const bool awaited = std::any_of(files_.begin(), files_.end(), [id](const auto& other) {
    return other.second.decoder != nullptr && other.second.decoder->may_continue_from(id);
  });
  if (!awaited) replay(id, file);
}

// As if none of its bytes had been read.
void Ingest::replay(FileId id, File& file) {
  Source& source = sources_[file.known.source];
  take_off(file.read.offset(), file.bytes, source.bytes);
  take_off(file.decoder_records, file.records, source.records);
  source.skipped -= std::min(file.decoder_skipped, source.skipped);
  for (std::size_t i = 0; i < file.decoder_rejects.size(); ++i) {
    take_off(file.decoder_rejects[i], file.rejects, source.rejects[i]);
  }
  forget_decoder(id, file);
  times_.clear(id);
  file.read.clear();
  file.decoder = make_decoder(id, file);
}

TailCheckpoint Ingest::checkpoint() const {
  TailCheckpoint checkpoint;
  for (const auto& [id, file] : files_) {
    checkpoint.files.push_back({file.known, file.read, file.finished});
  }
  for (const auto& [id, lane] : lanes_) checkpoint.lanes.push_back(lane.saved);
  return checkpoint;
}

}  // namespace trainwatch
