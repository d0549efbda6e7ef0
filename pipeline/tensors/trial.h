// SPDX-License-Identifier: Apache-2.0
// A trial of SageMaker Debugger on disk: which tensors were saved at which steps, by which workers,
// and the files that have their values. It is as it was at open() or the last refresh().
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/decode/event_file/tensor_collections.h"
#include "pipeline/tail/file_system.h"
#include "pipeline/tensors/tensor_index.h"
#include "pipeline/tensors/tensor_value.h"
#include "trainwatch/result.h"

namespace trainwatch {

enum class StepState : std::uint8_t { available, unavailable, not_yet_available };

struct ModeStep {
  TensorMode mode = TensorMode::global;
  std::int64_t step = 0;
  auto operator<=>(const ModeStep&) const = default;
};

// What is beyond them is rejected.
struct TrialLimits {
  std::size_t index_files = 1'000'000;
  std::size_t names = 100'000;
  std::size_t name_bytes = std::size_t{64} << 20U;   // of all names
  std::size_t index_bytes = std::size_t{64} << 20U;  // of an index file, or one of collections
};

class Trial {
 public:
  static constexpr std::size_t kMaxRecordBytes = std::size_t{2} << 30U;  // protobuf's limit
  static constexpr std::size_t kMaxRejected = 1000;                      // that are listed
  // With more incomplete steps than this, the oldest half is no longer waited for.
  static constexpr std::size_t kWaitWindow = 1000;

  struct IndexFile {
    std::int64_t step = 0;
    std::string worker;
    std::string path;
    ModeStep mode_step;
  };

  // Fails if `directory` cannot be listed or has no index. `files` outlives the trial.
  static Result<Trial> open(FileSystem& files, const std::string& directory,
                            const TrialLimits& limits = {});
  // Reads the index files that were written since; those that could not be read are tried again.
  // After a failure the trial is what it was.
  Status refresh();

  const std::set<std::string>& workers() const { return workers_; }
  // Tensors, those that are only saved as reductions included; no reductions.
  const std::set<std::string>& names() const { return names_; }
  // The tensors of each collection that were saved.
  std::map<std::string, std::vector<std::string>> collections() const;

  // Complete steps only, ascending: global steps, or the steps of one mode.
  std::vector<std::int64_t> steps(TensorMode mode) const;
  // -1: none yet.
  std::int64_t last_complete_step() const { return last_complete_step_; }
  // The job has ended: no step comes any more.
  bool loaded_all_steps() const { return ended_; }
  StepState state(std::int64_t global_step) const;
  // Of a step of a mode. One that no worker has saved is unavailable once a later one is complete.
  StepState state(TensorMode mode, std::int64_t step) const;
  // The global step of a step of a mode, if some worker has saved it.
  std::optional<std::int64_t> global_step(TensorMode mode, std::int64_t step) const;
  // Of a step that some worker has saved. The first of two files that disagree counts.
  ModeStep mode_step(std::int64_t global_step) const;

  // By step, then worker.
  const std::vector<IndexFile>& index_files() const { return files_; }
  std::span<const IndexFile> index_files(std::int64_t global_step) const;
  Result<TensorIndex> read_index(const IndexFile& file) const;
  Result<TensorValue> read_value(const TensorIndex& index, const RecordRange& range) const;
  // The record itself, as it is stored; of a longer one the first `most` bytes.
  Result<std::string> read_record(const TensorIndex& index, const RecordRange& range,
                                  std::uint64_t most = kMaxRecordBytes) const;

  // Files and patterns that could not be used, and why; of very many the first.
  std::vector<Error> rejected() const;

 private:
  using Place = std::pair<std::int64_t, std::string>;  // step and worker

  Trial(FileSystem& files, std::string directory, const TrialLimits& limits)
      : file_system_(&files), directory_(std::move(directory)), limits_(limits) {}

  Status list_index(std::vector<IndexFile>& found);
  void list_index_files(const std::string& directory, std::vector<IndexFile>& found);
  bool is_known(std::int64_t step, const std::string& worker) const;
  bool read_index_file(IndexFile& file);
  void add_name(std::set<std::string>& to, const std::string& name);
  void find_modes();
  void find_names();
  void read_collections();
  void find_complete_steps();
  void reject(std::string why);

  FileSystem* file_system_;
  std::string directory_;
  TrialLimits limits_;
  std::vector<IndexFile> files_;  // by step and worker
  std::set<Place> broken_;        // index files that were rejected
  std::set<std::string> workers_;
  std::set<std::string> raw_names_;   // in the index files, no reductions
  std::set<std::string> reductions_;  // as they are called there
  std::size_t name_bytes_ = 0;        // of both
  std::set<std::string> names_;
  TensorCollections collections_;
  std::map<std::int64_t, ModeStep> modes_;  // of each global step
  std::int64_t last_complete_step_ = -1;
  bool ended_ = false;
  std::vector<Error> rejected_;
  std::vector<Error> unread_;       // by the last refresh
  std::vector<Error> not_matched_;  // of collections: files and patterns
};

// The name of the tensor if `name` is a reduction's, as smdebug/reductions/abs_max/loss:0, and what
// it is; otherwise an empty reduction.
struct ReductionName {
  std::string_view reduction;
  std::string_view tensor;
};
ReductionName parse_reduction_name(std::string_view name);

// The one of `names` that a reduction is of: some writers leave out ":0" in its name.
std::string reduced_tensor(std::string_view name, const std::set<std::string>& names);

// Directories that are trials, at and below `root`, sorted.
std::vector<std::string> find_trials(FileSystem& files, const std::string& root);

}  // namespace trainwatch
