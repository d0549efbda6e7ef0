#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "commands/commands.h"
#include "commands/offline_run.h"
#include "daemon/app/watch_roots.h"
#include "daemon/exit_code.h"
#include "pipeline/tail/posix_file_system.h"
#include "pipeline/tensors/trial.h"
#include "trainwatch/json_writer.h"

namespace trainwatch {
namespace {

constexpr std::array kModes = {TensorMode::global, TensorMode::train, TensorMode::eval,
                               TensorMode::predict};

// JSON has no NaN and no infinities: they are texts, as the numbers of Python are printed.
void write_number(JsonWriter& json, double number) {
  if (std::isfinite(number)) {
    json.value(number);
  } else {
    json.value(std::isnan(number) ? "nan" : number < 0 ? "-inf" : "inf");
  }
}

template <class T>
void write_numbers(JsonWriter& json, const std::vector<T>& numbers) {
  json.begin_array();
  for (const T& number : numbers) {
    if constexpr (std::is_same_v<T, double>) {
      write_number(json, number);
    } else {
      json.value(number);
    }
  }
  json.end_array();
}

void write_values(JsonWriter& json, const TensorValue& value) {
  json.key("values");
  std::visit([&](const auto& values) { write_numbers(json, values); }, value.values);
  if (value.imaginary.empty()) return;
  json.key("imaginary");
  write_numbers(json, value.imaginary);
}

class TensorPrinter {
 public:
  TensorPrinter(const Trial& trial, const TensorsOptions& options, const RE2& pattern,
                std::ostream& out, std::ostream& err)
      : trial_(trial),
        options_(options),
        pattern_(pattern),
        out_(out),
        err_(err),
        collections_(trial.collections()) {}

  void print_summary();
  // False: something could not be read.
  bool print_values();

 private:
  bool wanted(const std::string& name) const;
  bool wanted(const Trial::IndexFile& file) const;
  bool print_step(const Trial::IndexFile& file);
  void print_tensor(const Trial::IndexFile& file, const TensorIndex& index, const std::string& name,
                    const IndexedTensor* tensor,
                    const std::map<std::string, RecordRange>& reductions);
  void write_reductions(JsonWriter& json, const TensorIndex& index,
                        const std::map<std::string, RecordRange>& reductions);
  std::optional<TensorValue> read(const TensorIndex& index, const RecordRange& range);

  const Trial& trial_;
  const TensorsOptions& options_;
  const RE2& pattern_;
  std::ostream& out_;
  std::ostream& err_;
  const std::map<std::string, std::vector<std::string>> collections_;
  bool complete_ = true;
};

void TensorPrinter::print_summary() {
  JsonWriter json;
  const auto texts = [&](const auto& list) {
    json.begin_array();
    for (const std::string& text : list) json.value(text);
    json.end_array();
  };
  json.begin_object().key("workers");
  texts(trial_.workers());
  json.key("steps").begin_object();
  for (const TensorMode mode : kModes) {
    if (options_.mode && mode != *options_.mode) continue;
    const auto steps = trial_.steps(mode);
    if (steps.empty() && mode != TensorMode::global && !options_.mode) continue;
    json.key(to_string(mode));
    write_numbers(json, steps);
  }
  json.end_object().key("names");
  std::vector<std::string> names;
  std::copy_if(trial_.names().begin(), trial_.names().end(), std::back_inserter(names),
               [&](const std::string& name) { return wanted(name); });
  texts(names);
  json.key("collections").begin_object();
  for (const auto& [name, tensors] : collections_) {
    if (options_.collection && name != *options_.collection) continue;
    json.key(name);
    texts(tensors);
  }
  json.end_object().key("last_complete_step");
  if (trial_.last_complete_step() < 0) {
    json.null();
  } else {
    json.value(trial_.last_complete_step());
  }
  json.field("loaded_all_steps", trial_.loaded_all_steps()).end_object();
  out_ << json.text() << '\n';
}

bool TensorPrinter::print_values() {
  for (const Trial::IndexFile& file : trial_.index_files()) {
    if (wanted(file) && !print_step(file)) complete_ = false;
  }
  return complete_;
}

bool TensorPrinter::wanted(const std::string& name) const {
  if (options_.collection) {
    const auto found = collections_.find(*options_.collection);
    if (found == collections_.end() ||
        !std::binary_search(found->second.begin(), found->second.end(), name))
      return false;
  }
  return !options_.regex || RE2::PartialMatch(name, pattern_);
}

bool TensorPrinter::wanted(const Trial::IndexFile& file) const {
  if (trial_.state(file.step) != StepState::available) return false;
  const ModeStep at = trial_.mode_step(file.step);
  const bool global = !options_.mode || *options_.mode == TensorMode::global;
  if (!global && at.mode != *options_.mode) return false;
  return !options_.step || *options_.step == (global ? file.step : at.step);
}

bool TensorPrinter::print_step(const Trial::IndexFile& file) {
  const auto index = trial_.read_index(file);
  if (!index) {
    err_ << index.error().message << '\n';
    return false;
  }
  std::map<std::string, const IndexedTensor*> tensors;
  std::map<std::string, std::map<std::string, RecordRange>> reductions;  // of each tensor
  for (const IndexedTensor& tensor : index->tensors) {
    const ReductionName parts = parse_reduction_name(tensor.name);
    if (parts.reduction.empty()) {
      tensors[tensor.name] = &tensor;
    } else if (tensor.record) {
      const std::string of = reduced_tensor(tensor.name, trial_.names());
      tensors.try_emplace(of, nullptr);
      reductions[of][std::string{parts.reduction}] = *tensor.record;
    }
  }
  for (const auto& [name, tensor] : tensors) {
    if (wanted(name)) print_tensor(file, *index, name, tensor, reductions[name]);
  }
  return true;
}

void TensorPrinter::print_tensor(const Trial::IndexFile& file, const TensorIndex& index,
                                 const std::string& name, const IndexedTensor* tensor,
                                 const std::map<std::string, RecordRange>& reductions) {
  JsonWriter json;
  const ModeStep at = trial_.mode_step(file.step);
  json.begin_object().field("name", name).field("step", file.step);
  json.field("mode", to_string(at.mode)).field("mode_step", at.step).field("worker", file.worker);
  if (tensor != nullptr && tensor->record) {
    const auto value = read(index, *tensor->record);
    if (!value) return;
    json.field("dtype", value->dtype).key("shape");
    write_numbers(json, value->shape);
    write_values(json, *value);
  } else {
    json.key("dtype").null().key("shape");
    if (tensor != nullptr && tensor->shape) {
      write_numbers(json, *tensor->shape);
    } else {
      json.null();
    }
    json.key("values").null();
  }
  if (!reductions.empty()) write_reductions(json, index, reductions);
  json.end_object();
  out_ << json.text() << '\n';
}

void TensorPrinter::write_reductions(JsonWriter& json, const TensorIndex& index,
                                     const std::map<std::string, RecordRange>& reductions) {
  json.key("reductions").begin_object();
  for (const auto& [reduction, range] : reductions) {
    const auto value = read(index, range);
    const auto* const numbers = value ? std::get_if<std::vector<double>>(&value->values) : nullptr;
    if (numbers == nullptr || numbers->size() != 1) continue;
    json.key(reduction);
    write_number(json, numbers->front());
  }
  json.end_object();
}

std::optional<TensorValue> TensorPrinter::read(const TensorIndex& index, const RecordRange& range) {
  auto value = trial_.read_value(index, range);
  if (value) return std::move(*value);
  err_ << value.error().message << '\n';
  complete_ = false;
  return std::nullopt;
}

}  // namespace

int tensors(const TensorsOptions& options, std::ostream& out, std::ostream& err) {
  const RE2 pattern{options.regex.value_or(""), RE2::Quiet};
  if (!pattern.ok()) return refuse({"--regex: " + pattern.error()}, exit_code::usage, err);
  const OfflineRun run(options, err);
  if (run.refused()) return *run.refused();
  const std::vector<WatchRoot> roots = replay_input(options.paths, run.config()).roots;
  PosixFileSystem files(roots);
  const bool values = options.step || options.regex;
  std::size_t read = 0;
  bool complete = true;
  for (const WatchRoot& root : roots) {
    for (const std::string& directory : find_trials(files, root.path)) {
      const auto trial = Trial::open(files, directory);
      if (!trial) return refuse(trial.error(), exit_code::failed, err);
      ++read;
      for (const Error& rejected : trial->rejected()) err << rejected.message << '\n';
      TensorPrinter printer(*trial, options, pattern, out, err);
      if (values) {
        complete = printer.print_values() && complete;
      } else {
        printer.print_summary();
      }
    }
  }
  out.flush();
  if (read == 0) return refuse({"no trial below these paths"}, exit_code::failed, err);
  return complete ? exit_code::done : exit_code::failed;
}

}  // namespace trainwatch
