// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "commands/commands.h"
#include "commands/offline_run.h"
#include "daemon/app/watch_roots.h"
#include "daemon/exit_code.h"
#include "pipeline/tail/posix_file_system.h"
#include "pipeline/tensors/npy.h"
#include "pipeline/tensors/saved_tensors.h"
#include "pipeline/tensors/tensor_filter.h"
#include "pipeline/tensors/tensor_image.h"
#include "pipeline/tensors/tensor_slice.h"
#include "pipeline/tensors/trial.h"
#include "pipeline/tensors/trial_json.h"
#include "trainwatch/json_writer.h"

namespace trainwatch {
namespace {

using OutputFormat = TensorsOptions::Format;
using Collections = std::map<std::string, std::vector<std::string>>;

class TensorPrinter {
 public:
  TensorPrinter(const TensorsOptions& options, const TensorFilter& filter, std::ostream& out,
                std::ostream& err)
      : options_(options), filter_(filter), out_(out), err_(err) {}

  void print(const Trial& trial);
  // The exit code.
  int finish();

 private:
  bool wants_values() const {
    return options_.step || options_.regex || options_.reduction ||
           options_.format != OutputFormat::json;
  }
  bool wanted(const Trial& trial, const Trial::IndexFile& file) const;
  void print_step(const Trial& trial, const Trial::IndexFile& file, const Collections& collections);
  void print_tensor(const Trial& trial, const Trial::IndexFile& file, const TensorIndex& index,
                    const std::string& name, const SavedTensor& tensor);
  void write_saved_reductions(JsonWriter& json, const Trial& trial, const TensorIndex& index,
                              const SavedTensor& tensor);
  std::optional<TensorValue> read(const Trial& trial, const TensorIndex& index,
                                  const RecordRange& range);
  void fail(const Error& why) {
    err_ << why.message << '\n';
    complete_ = false;
  }

  const TensorsOptions& options_;
  const TensorFilter& filter_;
  std::ostream& out_;
  std::ostream& err_;
  std::size_t trials_ = 0;
  std::size_t tensors_ = 0;
  std::optional<TensorValue> only_;  // to be written as a file
  bool complete_ = true;
};

void TensorPrinter::print(const Trial& trial) {
  ++trials_;
  for (const Error& rejected : trial.rejected()) err_ << rejected.message << '\n';
  if (!wants_values()) {
    JsonWriter json;
    json.begin_object();
    write_trial(json, trial, filter_, options_.mode);
    json.end_object();
    out_ << json.text() << '\n';
    return;
  }
  const Collections collections = trial.collections();
  for (const Trial::IndexFile& file : trial.index_files()) {
    if (wanted(trial, file)) print_step(trial, file, collections);
  }
}

bool TensorPrinter::wanted(const Trial& trial, const Trial::IndexFile& file) const {
  if (trial.state(file.step) != StepState::available) return false;
  if (options_.worker && *options_.worker != file.worker) return false;
  const ModeStep at = trial.mode_step(file.step);
  const bool global = !options_.mode || *options_.mode == TensorMode::global;
  if (!global && at.mode != *options_.mode) return false;
  return !options_.step || *options_.step == (global ? file.step : at.step);
}

void TensorPrinter::print_step(const Trial& trial, const Trial::IndexFile& file,
                               const Collections& collections) {
  const auto index = trial.read_index(file);
  if (!index) return fail(index.error());
  for (const auto& [name, tensor] : saved_tensors(*index, trial.names())) {
    if (filter_.wants(name, collections)) print_tensor(trial, file, *index, name, tensor);
  }
}

void TensorPrinter::print_tensor(const Trial& trial, const Trial::IndexFile& file,
                                 const TensorIndex& index, const std::string& name,
                                 const SavedTensor& tensor) {
  if (options_.format != OutputFormat::json) {
    if (tensor.record && ++tensors_ == 1) only_ = read(trial, index, *tensor.record);
    return;
  }
  JsonWriter json;
  json.begin_object();
  write_place(json, trial, file, name);
  if (options_.reduction) {
    write_reduction(json, *options_.reduction,
                    read_reduction(trial, index, tensor, *options_.reduction));
  } else if (tensor.record) {
    const auto value = read(trial, index, *tensor.record);
    if (!value) return;
    write_value(json, *value);
  } else {
    write_no_value(json, tensor);
  }
  if (!options_.reduction) write_saved_reductions(json, trial, index, tensor);
  json.end_object();
  out_ << json.text() << '\n';
}

void TensorPrinter::write_saved_reductions(JsonWriter& json, const Trial& trial,
                                           const TensorIndex& index, const SavedTensor& tensor) {
  if (tensor.reductions.empty()) return;
  json.key("reductions").begin_object();
  for (const auto& [reduction, range] : tensor.reductions) {
    const auto value = trial.read_value(index, range);
    const auto number = value ? single_number(*value) : Result<double>{value.error()};
    if (!value) fail(value.error());
    if (!number) continue;
    json.key(reduction);
    write_number(json, *number);
  }
  json.end_object();
}

std::optional<TensorValue> TensorPrinter::read(const Trial& trial, const TensorIndex& index,
                                               const RecordRange& range) {
  auto value = trial.read_value(index, range);
  if (value && !options_.slice.empty()) value = slice_tensor(*value, options_.slice);
  if (value) return std::move(*value);
  fail(value.error());
  return std::nullopt;
}

int TensorPrinter::finish() {
  if (trials_ == 0)
    return trainwatch::refuse({"no trial below these paths"}, exit_code::failed, err_);
  if (options_.format != OutputFormat::json && tensors_ != 1) {
    return trainwatch::refuse(
        {std::to_string(tensors_) +
         " tensors with values are meant; a file has one: choose with --step, --regex, "
         "--mode and --worker"},
        exit_code::usage, err_);
  }
  if (only_) {
    const auto bytes = options_.format == OutputFormat::npy ? to_npy(*only_) : to_png(*only_);
    if (bytes) {
      out_ << *bytes;
    } else {
      fail(bytes.error());
    }
  }
  out_.flush();
  return complete_ ? exit_code::done : exit_code::failed;
}

}  // namespace

int tensors(const TensorsOptions& options, std::ostream& out, std::ostream& err) {
  const auto filter = TensorFilter::made(options.collection, options.regex);
  if (!filter) return refuse({"--regex: " + filter.error().message}, exit_code::usage, err);
  if (options.format != OutputFormat::json && options.reduction)
    return refuse({"--format=npy and png are of values; a --reduction is one number"},
                  exit_code::usage, err);
  const OfflineRun run(options, err);
  if (run.refused()) return *run.refused();
  const std::vector<WatchRoot> roots = replay_input(options.paths, run.config()).roots;
  PosixFileSystem files(roots);
  TensorPrinter printer(options, *filter, out, err);
  for (const WatchRoot& root : roots) {
    for (const std::string& directory : find_trials(files, root.path)) {
      const auto trial = Trial::open(files, directory);
      if (!trial) return refuse(trial.error(), exit_code::failed, err);
      printer.print(*trial);
    }
  }
  return printer.finish();
}

}  // namespace trainwatch
