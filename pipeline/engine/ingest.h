// SPDX-License-Identifier: Apache-2.0
// Connects the stages: bytes of files -> decoder -> timestamp filter -> engine, and keeps counters
// of every source: bytes, events, rejects, lag. Shared by the daemon's engine thread and `replay`,
// so that finished files give the same alerts as live ones.
//
// Single-threaded. The tailer may run on another thread as long as its calls arrive here in order.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "pipeline/decode/declared/literal_search.h"
#include "pipeline/decode/file_decoder.h"
#include "pipeline/decode/flight_recorder/flight_dump.h"
#include "pipeline/decode/run_naming.h"
#include "pipeline/engine/decode_memory.h"
#include "pipeline/engine/decode_watch.h"
#include "pipeline/engine/decoder_contexts.h"
#include "pipeline/engine/engine.h"
#include "pipeline/engine/run_names.h"
#include "pipeline/engine/time_index.h"
#include "pipeline/tail/tailer.h"
#include "pipeline/tail/watch_root.h"
#include "pipeline/timestamps/timestamp_filter.h"
#include "trainwatch/diagnostics.h"
#include "trainwatch/run_note.h"
#include "trainwatch/shares.h"
#include "trainwatch/state_rows.h"
#include "trainwatch/subject_map.h"
#include "trainwatch/tensor.h"

namespace trainwatch {

struct IngestOptions {
  std::vector<WatchRoot> roots;
  std::function<std::vector<std::string>(const std::string&)> list_directory;
  TimestampFilterOptions time;
  InternerLimits names{};
  DecoderContexts::Limits contexts{};
  std::size_t decode_bytes = std::size_t{80} << 20U;  // of the decoders of all files
  std::shared_ptr<const DeclaredFormats> declared{};  // null: the presets
  std::function<std::optional<std::string>(const std::string&, std::size_t)> read_file{};
  DecodeWatch* decode_watch = nullptr;  // null: nobody watches; outlives what it is given to
};

struct RejectedSample {
  std::string path;
  RejectReason reason{};
  // The first 256 bytes, with unprintable ones escaped; of a decoded record, its wording.
  std::string text;
};

class Ingest final : public TailSink,
                     private Diagnostics,
                     private CycleSink,
                     private DumpSink,
                     private RunNaming,
                     private RunNoteSink,
                     private TensorSink {
 public:
  using Rejects = std::array<std::uint64_t, static_cast<std::size_t>(RejectReason::count_)>;

  struct File {
    KnownFile known;
    Fingerprint read;      // the bytes read so far
    Fingerprint inflated;  // what a compressed one held when it was finished
    bool finished = false;
    bool superseded = false;               // another file continues its content
    std::unique_ptr<FileDecoder> decoder;  // null once the file is finished
    std::string format = "undecided";      // name of the format
    std::uint64_t bytes = 0;
    std::uint64_t records = 0;  // decoded, before the timestamp filter
    // Of the current decoder, or of the one that goes on if the file grows.
    std::uint64_t decoder_begins = 0;  // offset of its first byte
    std::uint64_t decoder_records = 0;
    std::uint64_t decoder_skipped = 0;  // bytes
    std::uint64_t definitions = 0;      // not saved
    Rejects decoder_rejects{};
    std::uint64_t rejects = 0;
    std::uint64_t left_out = 0;  // names, subjects and series without room; not saved
    bool within_line = false;    // it was given up there
    bool refused = false;        // that its growth is skipped was reported; not saved
    std::uint32_t seen_in = 0;   // the round of LastSeen in which bytes came last
    // Of records without times, since it was last read to its end.
    SubjectMap<bool> untimed{};
    std::string error;
    std::string run;         // its id; empty: the first of its place
    std::uint32_t twin = 1;  // of the runs of that id, see RunNames
  };
  struct Source {
    std::uint64_t bytes = 0;
    std::uint64_t records = 0;
    std::uint64_t skipped = 0;  // bytes that are part of no record
    std::uint64_t generations = 0;
    std::uint64_t truncations = 0;
    std::uint64_t bytes_lost = 0;
    std::uint64_t read_errors = 0;
    std::uint64_t left_out = 0;  // as of a file
    Rejects rejects{};
  };
  static constexpr std::size_t kRejectsKept = 64;

  Ingest(Engine& engine, IngestOptions options);
  ~Ingest() override;

  void opened(const KnownFile& file, const std::string& lane,
              const std::vector<FileId>& repeated) override;
  void data(FileId file, const AppendedBytes& appended) override;
  void renamed(const KnownFile& file) override;
  void cut_back(FileId file, std::uint64_t bytes) override;
  void restarted(FileId file, std::uint64_t lost) override;
  void finished(FileId file) override;
  void read_error(FileId file, const std::string& what) override;
  void forgotten(FileId file, bool retired) override;
  void lane_forgotten(LaneId lane) override;
  void checkpoint_written(const CheckpointFile& file) override;

  // Puts the files, lanes and sources that changed since the last call; `all`: every one.
  void save(StateRows& rows, bool all);
  // Resumes from saved rows; the engine must be loaded before. Only for a new object. False: the
  // rows are damaged, and the object must not be used.
  bool load(const StoredRows& rows);
  // The same with an engine that has aged, in place of `old`, which saved the rows just now: no
  // file is read again.
  bool load_aged(const SavedState& saved, Ingest& old);
  // No bytes came for long: the file is evaluated to its end, as far as it can be.
  void finish_silent_files();
  // What has to be read for the events between these times, both included.
  std::vector<FileWindow> windows(std::int64_t from_ns, std::int64_t to_ns) const;
  // Where the tailer resumes.
  TailCheckpoint checkpoint() const;

  // The input has ended: evaluates what unfinished files hold back.
  void end_of_input();

  const std::map<FileId, File>& files() const { return files_; }
  const std::map<std::string, Source>& sources() const { return sources_; }
  const std::deque<RejectedSample>& rejected() const { return rejected_; }

 private:
  void reject(FileId file, RejectReason reason, std::string_view sample) override;
  void cycle(CycleTrace& cycle) override;
  void dump(const std::string& job, RankDump dump) override;
  void tensor(const Tensor& tensor) override { engine_.on(tensor); }
  bool wants_tensors() const override { return engine_.host().wants_tensors(); }
  void watchdog(const std::string& job, WatchdogLine line) override;
  SourceNote add(RunNote note) override;
  bool wants_host_events() const override { return engine_.analyses().wants_host_events(); }
  FileContext context_of(FileId id, const File& file);
  // As the path says.
  std::string job_of_place(const KnownFile& known) const;
  std::string job_of_file(const File& file) const;
  // As the name of a new file says.
  void name_run_of(const KnownFile& known, File& file);
  std::string job_of_run(std::string_view id) override;
  std::string job_of_writer(const FileWriter& writer, Time at) override;
  // What has been read of it, inflated if it is compressed.
  static const Fingerprint& contents_of(const File& file);
  std::unique_ptr<FileDecoder> make_decoder(FileId id, const File& file);
  std::unique_ptr<FileDecoder> supersede(FileId id);
  bool load_rows(const SavedState& saved);
  void replay_partial_line(FileId id, File& file);
  void replay_cycle(FileId id, File& file);
  void replay(FileId id, File& file);
  void forget_decoder(FileId id, File& file);
  void finish(FileId id, File& file);
  std::optional<std::string> read_file(const std::string& path, std::size_t most);
  void measure_decoders();
  void limit_memory();
  void give_up(FileId id, File& file);
  bool go_on(FileId id, File& file);
  std::string delivered_of(FileId id, const File& file);
  void grown_unknown(FileId id, File& file, std::uint64_t offset, std::string_view bytes,
                     Time written);
  void keep_context(FileId id, FileDecoder& decoder);
  bool load_context(FileId id, const File& file, StateIo io);
  // Whose share of the tables its names come out of.
  Holder holder_of(const File& file) const;
  void begin_decoding(FileId id, const File& file);
  void feed(FileId id, File& file, std::string_view bytes);
  // Updates the counters of `file` and passes the batch through the filter to the engine.
  void deliver(FileId id, File& file);
  void note_scalars(File& file);
  void read_to_end(File& file);
  // Counts what the filter rejected in `file`, and passes the batch to the engine.
  void evaluate(FileId id);
  void note_times(FileId id, File& file);
  void forget_times();
  FileWindow window_of(const File& file) const;

  File& changing(FileId file);

  Engine& engine_;
  IngestOptions options_;
  std::map<FileId, File> files_;
  std::set<FileId> changed_files_;  // since they were last saved
  std::vector<FileId> forgotten_;   // since the last save
  struct Lane {
    LaneCheckpoint saved;
    std::uint32_t files = 0;  // that are not forgotten
  };
  std::map<LaneId, Lane> lanes_;
  std::set<LaneId> changed_lanes_;
  std::vector<LaneId> forgotten_lanes_;  // since the last save
  std::map<std::string, Source> sources_;
  std::deque<RejectedSample> rejected_;
  std::map<SubjectId, std::int64_t> cycles_emitted_;  // by rank
  TimeIndex times_;
  RunNames names_;
  DecoderContexts contexts_;
  DecodeMemory memory_;
  LiteralSearches searches_;
  FileId decoding_{};            // whose cycle it is
  std::uint64_t left_out_ = 0;   // by the interner, as far as a file is charged with it
  bool cycles_changed_ = false;  // since the last save
  TimestampFilter filter_;
  EventBatch batch_;                            // reused
  std::vector<RejectedEvent> rejected_events_;  // reused
};

}  // namespace trainwatch
