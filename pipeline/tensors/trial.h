// A trial of SageMaker Debugger on disk: which tensors were saved at which steps, by which workers,
// and the files that have their values. A snapshot: what is written later needs another open().
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

class Trial {
 public:
  static constexpr std::size_t kMaxIndexFiles = 1'000'000;
  static constexpr std::size_t kMaxNames = 100'000;
  static constexpr std::size_t kMaxIndexBytes = std::size_t{64} << 20U;
  static constexpr std::size_t kMaxRecordBytes = std::size_t{2} << 30U;  // protobuf's limit
  // With more incomplete steps than this, the oldest half is no longer waited for.
  static constexpr std::size_t kWaitWindow = 1000;

  struct IndexFile {
    std::int64_t step = 0;
    std::string worker;
    std::string path;
    ModeStep mode_step;
  };

  // Fails if `directory` cannot be listed or has no index. `files` outlives the trial.
  static Result<Trial> open(FileSystem& files, const std::string& directory);

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
  // Of a step that some worker has saved. The first of two files that disagree counts.
  ModeStep mode_step(std::int64_t global_step) const;

  // By step, then worker.
  const std::vector<IndexFile>& index_files() const { return files_; }
  Result<TensorIndex> read_index(const IndexFile& file) const;
  Result<TensorValue> read_value(const TensorIndex& index, const RecordRange& range) const;

  // Files that could not be used, and why.
  const std::vector<Error>& rejected() const { return rejected_; }

 private:
  struct Collection {
    std::set<std::string> names;
    std::vector<std::string> patterns;
  };

  Trial(FileSystem& files, std::string directory)
      : file_system_(&files), directory_(std::move(directory)) {}

  Status find_index_files();
  void add_index_files(const std::string& directory);
  void read_index_files();
  void read_collections();
  Status parse_collections(std::string_view json);
  void find_complete_steps();

  FileSystem* file_system_;
  std::string directory_;
  std::vector<IndexFile> files_;
  std::set<std::string> workers_;
  std::set<std::string> names_;
  std::map<std::string, Collection> collections_;
  std::map<std::int64_t, ModeStep> modes_;  // of each global step
  std::int64_t num_workers_ = 0;            // 0: no collections file says it
  std::int64_t last_complete_step_ = -1;
  bool ended_ = false;
  std::vector<Error> rejected_;
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
