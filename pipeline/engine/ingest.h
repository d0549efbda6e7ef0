// Joins the stages: bytes of files -> decoder -> time gate -> engine, and keeps account of every
// source: bytes, events, rejects, lag. The daemon's engine thread and `replay` use the same one, so
// that old files give the same alerts as live ones.
//
// One thread. The tailer may run on another one as long as its calls arrive here in order.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "pipeline/decode/file_decoder.h"
#include "pipeline/engine/engine.h"
#include "pipeline/engine/time_gate.h"
#include "pipeline/tail/tailer.h"
#include "trainwatch/diagnostics.h"
#include "trainwatch/state_rows.h"

namespace trainwatch {

// What the configuration says about one watched root besides its path.
struct RootOptions {
  std::string job;
  std::int32_t rank = kNoRank;
};

struct IngestOptions {
  std::map<std::string, RootOptions> roots;  // by WatchRoot::source
  std::function<std::vector<std::string>(const std::string&)> list_directory;
  TimeGateOptions time;
};

struct RejectedSample {
  std::string path;
  RejectReason reason{};
  // The first 256 bytes, not printable ones escaped; of a record that was decoded, what it says.
  std::string text;
};

class Ingest final : public TailSink, private Diagnostics, private CycleSink {
 public:
  using Rejects = std::array<std::uint64_t, static_cast<std::size_t>(RejectReason::count_)>;

  struct File {
    KnownFile known;
    ContentMark read;  // the bytes that were taken in
    bool finished = false;
    bool superseded = false;               // another file goes on with its contents
    bool changed = false;                  // since it was last saved
    std::unique_ptr<FileDecoder> decoder;  // null once the file is finished
    Format format = Format::undecided;
    std::uint64_t bytes = 0;
    std::uint64_t records = 0;          // decoded, whatever the time gate says of them
    std::uint64_t decoder_begins = 0;   // offset of the first byte of the present decoder
    std::uint64_t decoder_records = 0;  // of the present decoder
    std::uint64_t rejects = 0;
    Rejects decoder_rejects{};  // of the present decoder
    std::string error;
  };
  struct Source {
    std::uint64_t bytes = 0;
    std::uint64_t records = 0;
    std::uint64_t generations = 0;
    std::uint64_t truncations = 0;
    std::uint64_t bytes_lost = 0;
    std::uint64_t read_errors = 0;
    Rejects rejects{};
    void state(StateIo& io);
  };
  static constexpr std::size_t kRejectsKept = 64;

  Ingest(Engine& engine, IngestOptions options);
  ~Ingest() override;

  void opened(const KnownFile& file, const std::string& lane,
              const std::vector<FileId>& plain) override;
  void data(FileId file, std::string_view bytes) override;
  void renamed(const KnownFile& file) override;
  void cut_back(FileId file, std::uint64_t bytes) override;
  void restarted(FileId file, std::uint64_t lost) override;
  void finished(FileId file) override;
  void read_error(FileId file, const std::string& what) override;
  void forgotten(FileId file, bool barred) override;

  // Puts the files, lanes and sources that changed since the last call; `all`: every one.
  void save(StateRows& rows, bool all);
  // Goes on from saved rows; the engine's vocabulary must be loaded. Only for a new object. False:
  // they are damaged, or not of this version; the object is of no use then.
  bool load(const StoredRows& rows);
  // Where the tailer is to go on.
  TailCheckpoint checkpoint() const;

  // The input is over: what unfinished files hold back is evaluated now.
  void end_of_input();

  const std::map<FileId, File>& files() const { return files_; }
  const std::map<std::string, Source>& sources() const { return sources_; }
  const std::deque<RejectedSample>& rejected() const { return rejected_; }

 private:
  void reject(FileId file, RejectReason reason, std::string_view sample) override;
  void cycle(CycleTrace& cycle) override;
  bool wants_host_rows() const override { return engine_.analyses().wants_host_rows(); }
  FileContext context_of(FileId id, const File& file);
  std::unique_ptr<FileDecoder> make_decoder(FileId id, const File& file);
  std::unique_ptr<FileDecoder> supersede(FileId id);
  void unread_first_bytes(FileId id, File& file);
  void unread_cycle(FileId id, File& file);
  void unread(FileId id, File& file);
  static void forget_decoder(File& file);
  void finish(FileId id, File& file);
  // Brings the counters of `file` up to date and hands what the gate lets through to the engine.
  void deliver(FileId id, File& file);
  // Counts what the gate refused in `file`, and hands the batch to the engine.
  void evaluate(FileId id);

  File& changing(FileId file);

  Engine& engine_;
  IngestOptions options_;
  std::map<FileId, File> files_;
  std::vector<FileId> forgotten_;  // since the last save
  std::map<LaneId, LaneCheckpoint> lanes_;
  std::set<LaneId> changed_lanes_;
  std::map<std::string, Source> sources_;
  std::deque<RejectedSample> rejected_;
  std::map<SubjectId, std::int64_t> cycles_told_;  // by rank
  bool cycles_changed_ = false;                    // since the last save
  TimeGate gate_;
  EventBatch batch_;              // reused
  std::vector<Refused> refused_;  // reused
};

}  // namespace trainwatch
