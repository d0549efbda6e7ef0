// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tensors/trial.h"

#include <re2/re2.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <tuple>

#include "pipeline/tail/read_whole_file.h"

namespace trainwatch {
namespace {

constexpr std::string_view kReductionPrefix = "smdebug/reductions/";
constexpr int kMaxDirectoryDepth = 8;

bool has_directory(const std::vector<DirectoryEntry>& entries, std::string_view name) {
  return std::any_of(entries.begin(), entries.end(), [&](const DirectoryEntry& entry) {
    return entry.type == DirectoryEntry::Type::directory && entry.name == name;
  });
}

void find_trials(FileSystem& files, const std::string& directory, int depth,
                 std::vector<std::string>& found) {
  const auto entries = files.list(directory);
  if (!entries) return;
  if (has_directory(*entries, "index")) {
    found.push_back(directory);
    return;
  }
  for (const DirectoryEntry& entry : *entries) {
    if (entry.type == DirectoryEntry::Type::directory && depth < kMaxDirectoryDepth)
      find_trials(files, directory + '/' + entry.name, depth + 1, found);
  }
}

// "loss:0" -> "loss", as Python's re.sub(":\d+", "", name).
std::string without_output(std::string_view name) {
  std::string result{name};
  static const RE2 kOutput{":\\d+"};
  RE2::GlobalReplace(&result, kOutput, "");
  return result;
}

}  // namespace

std::vector<std::string> find_trials(FileSystem& files, const std::string& root) {
  std::vector<std::string> found;
  find_trials(files, root, 0, found);
  return found;
}

ReductionName parse_reduction_name(std::string_view name) {
  if (!name.starts_with(kReductionPrefix)) return {{}, name};
  const std::string_view rest = name.substr(kReductionPrefix.size());
  const std::size_t slash = rest.find('/');
  if (slash == std::string_view::npos) return {{}, name};
  return {rest.substr(0, slash), rest.substr(slash + 1)};
}

std::string reduced_tensor(std::string_view name, const std::set<std::string>& names) {
  std::string tensor{parse_reduction_name(name).tensor};
  if (names.contains(tensor)) return tensor;
  for (auto like = names.lower_bound(tensor + ':');
       like != names.end() && like->starts_with(tensor + ':'); ++like) {
    if (without_output(*like) == tensor) return *like;
  }
  return tensor;
}

Result<Trial> Trial::open(FileSystem& files, const std::string& directory,
                          const TrialLimits& limits) {
  Trial trial{files, directory, limits};
  if (const Status read = trial.refresh(); !read) return read.error();
  return trial;
}

Status Trial::refresh() {
  std::vector<IndexFile> found;
  unread_.clear();
  if (Status listed = list_index(found); !listed) return listed;
  const std::size_t before = files_.size();
  const std::size_t names_before = raw_names_.size() + reductions_.size();
  for (IndexFile& file : found) {
    if (read_index_file(file)) files_.push_back(std::move(file));
  }
  if (files_.size() > before) {
    std::sort(files_.begin(), files_.end(), [](const IndexFile& a, const IndexFile& b) {
      return std::tie(a.step, a.worker) < std::tie(b.step, b.worker);
    });
    find_modes();
  }
  if (raw_names_.size() + reductions_.size() > names_before) find_names();
  read_collections();
  find_complete_steps();
  return success();
}

// Of the files that are not known yet.
Status Trial::list_index(std::vector<IndexFile>& found) {
  const auto entries = file_system_->list(directory_);
  if (!entries) return entries.error();
  if (!has_directory(*entries, "index")) return Error{directory_ + " has no index of tensors"};
  // The end is seen before the last files are looked for, which were written before it.
  for (const DirectoryEntry& entry : *entries)
    ended_ = ended_ || entry.name == "training_job_end.ts" || entry.name == "END_OF_JOB.ts";
  const std::string index = directory_ + "/index";
  const auto thousands = file_system_->list(index);
  if (!thousands) return thousands.error();
  for (const DirectoryEntry& entry : *thousands) {
    if (entry.type == DirectoryEntry::Type::directory)
      list_index_files(index + '/' + entry.name, found);
  }
  return success();
}

void Trial::list_index_files(const std::string& directory, std::vector<IndexFile>& found) {
  const auto entries = file_system_->list(directory);
  if (!entries) {
    unread_.push_back(entries.error());
    return;
  }
  for (const DirectoryEntry& entry : *entries) {
    auto name = parse_index_name(entry.name);
    if (!name || is_known(name->step, name->worker)) continue;
    if (files_.size() + found.size() >= limits_.index_files) {
      unread_.push_back({directory + ": more than " + std::to_string(limits_.index_files) +
                         " index files; the others are not read"});
      return;
    }
    found.push_back({name->step, std::move(name->worker), directory + '/' + entry.name, {}});
  }
}

bool Trial::is_known(std::int64_t step, const std::string& worker) const {
  const auto of_step = index_files(step);
  return std::ranges::find(of_step, worker, &IndexFile::worker) != of_step.end() ||
         broken_.contains({step, worker});
}

bool Trial::read_index_file(IndexFile& file) {
  const auto json = read_whole_file(*file_system_, file.path, limits_.index_bytes);
  if (!json) {
    if (unread_.size() < kMaxRejected) unread_.push_back({file.path + ": " + json.error().message});
    return false;
  }
  const auto index = parse_tensor_index(*json);
  if (!index) {
    reject(file.path + ": " + index.error().message);
    if (broken_.size() < limits_.index_files) broken_.emplace(file.step, file.worker);
    return false;
  }
  file.mode_step = {index->mode, index->mode_step};
  for (const IndexedTensor& tensor : index->tensors) {
    const bool reduced = !parse_reduction_name(tensor.name).reduction.empty();
    add_name(reduced ? reductions_ : raw_names_, tensor.name);
  }
  return true;
}

void Trial::add_name(std::set<std::string>& to, const std::string& name) {
  const bool full = to.size() >= limits_.names || name_bytes_ + name.size() > limits_.name_bytes;
  if (!full && to.insert(name).second) name_bytes_ += name.size();
}

// Of two files that disagree the first in the order of steps and workers counts, whenever they were
// seen.
void Trial::find_modes() {
  modes_.clear();
  for (const IndexFile& file : files_) {
    workers_.insert(file.worker);
    modes_.try_emplace(modes_.end(), file.step, file.mode_step);
  }
}

void Trial::find_names() {
  names_ = raw_names_;
  for (const std::string& reduction : reductions_)
    names_.insert(reduced_tensor(reduction, raw_names_));
}

void Trial::reject(std::string why) {
  if (rejected_.size() < kMaxRejected) rejected_.push_back({std::move(why)});
}

std::vector<Error> Trial::rejected() const {
  std::vector<Error> all = rejected_;
  all.insert(all.end(), unread_.begin(), unread_.end());
  all.insert(all.end(), not_matched_.begin(), not_matched_.end());
  return all;
}

void Trial::read_collections() {
  const std::string directory = directory_ + "/collections/000000000";
  const auto entries = file_system_->list(directory);
  if (!entries) return;
  not_matched_.clear();
  for (const DirectoryEntry& entry : *entries) {
    if (!entry.name.ends_with("_collections.json")) continue;
    const std::string path = directory + '/' + entry.name;
    const auto json = read_whole_file(*file_system_, path, limits_.index_bytes);
    auto parsed = json ? TensorCollections::parse(*json) : Result<TensorCollections>{json.error()};
    if (!parsed) {
      not_matched_.push_back({path + ": " + parsed.error().message});
      continue;
    }
    collections_ = std::move(*parsed);
    for (const auto& [collection, pattern, why] : collections_.refused()) {
      if (not_matched_.size() >= kMaxRejected) break;
      std::string text = directory_;
      text.append(": the include_regex '").append(pattern).append("' of collection '");
      text.append(collection).append("' matches nothing: ").append(why);
      not_matched_.push_back({std::move(text)});
    }
    return;  // the first one counts
  }
}

void Trial::find_complete_steps() {
  if (modes_.empty()) return;
  if (ended_) {
    last_complete_step_ = modes_.rbegin()->first;
    return;
  }
  const std::size_t needed = collections_.num_workers() > 0
                                 ? static_cast<std::size_t>(collections_.num_workers())
                                 : workers_.size();
  std::size_t count = 0;  // of the workers of a step
  for (std::size_t at = 0; at < files_.size(); ++at) {
    count = at > 0 && files_[at - 1].step == files_[at].step ? count + 1 : 1;
    if (count >= needed) last_complete_step_ = std::max(last_complete_step_, files_[at].step);
  }
  std::vector<std::int64_t> waiting;
  for (auto step = modes_.upper_bound(last_complete_step_); step != modes_.end(); ++step)
    waiting.push_back(step->first);
  // smdebug gives up half the window at a time.
  for (std::size_t given_up = 0; waiting.size() - given_up > kWaitWindow;) {
    given_up += kWaitWindow / 2;
    last_complete_step_ = waiting[given_up - 1];
  }
}

std::map<std::string, std::vector<std::string>> Trial::collections() const {
  std::map<std::string, std::vector<std::string>> result;
  collections_.for_each([&result](std::string_view name) { result.emplace(name, 0); });
  for (const std::string& tensor : names_) {
    collections_.for_each_of(tensor, [&](std::string_view collection) {
      result.find(std::string{collection})->second.push_back(tensor);
    });
  }
  return result;
}

std::vector<std::int64_t> Trial::steps(TensorMode mode) const {
  std::vector<std::int64_t> result;
  for (const auto& [step, of_mode] : modes_) {
    if (step > last_complete_step_) break;
    if (mode == TensorMode::global) {
      result.push_back(step);
    } else if (of_mode.mode == mode) {
      result.push_back(of_mode.step);
    }
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

StepState Trial::state(std::int64_t global_step) const {
  if (global_step > last_complete_step_)
    return ended_ ? StepState::unavailable : StepState::not_yet_available;
  return modes_.contains(global_step) ? StepState::available : StepState::unavailable;
}

ModeStep Trial::mode_step(std::int64_t global_step) const {
  const auto found = modes_.find(global_step);
  return found == modes_.end() ? ModeStep{TensorMode::global, global_step} : found->second;
}

StepState Trial::state(TensorMode mode, std::int64_t step) const {
  if (const auto global = global_step(mode, step)) return state(*global);
  if (mode == TensorMode::global) return state(step);
  const bool passed = std::ranges::any_of(modes_, [&](const auto& saved) {
    return saved.second.mode == mode && saved.second.step > step &&
           saved.first <= last_complete_step_;
  });
  return passed || ended_ ? StepState::unavailable : StepState::not_yet_available;
}

std::optional<std::int64_t> Trial::global_step(TensorMode mode, std::int64_t step) const {
  if (mode == TensorMode::global && modes_.contains(step)) return step;
  const auto found = std::ranges::find_if(modes_, [&](const auto& saved) {
    return saved.second == ModeStep{mode, step};
  });
  if (mode == TensorMode::global || found == modes_.end()) return std::nullopt;
  return found->first;
}

std::span<const Trial::IndexFile> Trial::index_files(std::int64_t global_step) const {
  return {std::ranges::lower_bound(files_, global_step, {}, &IndexFile::step),
          std::ranges::upper_bound(files_, global_step, {}, &IndexFile::step)};
}

Result<TensorIndex> Trial::read_index(const IndexFile& file) const {
  const auto json = read_whole_file(*file_system_, file.path, limits_.index_bytes);
  if (!json) return Error{file.path + ": " + json.error().message};
  auto index = parse_tensor_index(*json);
  if (!index) return Error{file.path + ": " + index.error().message};
  return index;
}

Result<std::string> Trial::read_record(const TensorIndex& index, const RecordRange& range,
                                       std::uint64_t most) const {
  const std::string path = directory_ + '/' + index.event_file;
  const auto failed = [&](const std::string& why) {
    return Error{path + " at " + std::to_string(range.offset) + ": " + why};
  };
  if (range.bytes > kMaxRecordBytes) return failed("the record is too large");
  const auto file = file_system_->open(path);
  if (!file) return failed(file.error().message);
  const auto stat = (*file)->stat();
  if (!stat) return failed(stat.error().message);
  if (range.offset > stat->size || range.bytes > stat->size - range.offset)
    return failed("the file ends before the record does");
  std::string record(std::min(range.bytes, most), '\0');
  for (std::size_t at = 0; at < record.size();) {
    const auto count = (*file)->read(range.offset + at, std::span{record}.subspan(at));
    if (!count) return failed(count.error().message);
    if (*count == 0) return failed("the file ends before the record does");
    at += *count;
  }
  return record;
}

Result<TensorValue> Trial::read_value(const TensorIndex& index, const RecordRange& range) const {
  const auto record = read_record(index, range);
  if (!record) return record.error();
  auto value = read_tensor_record(*record);
  if (value) return value;
  return Error{directory_ + '/' + index.event_file + " at " + std::to_string(range.offset) + ": " +
               value.error().message};
}

}  // namespace trainwatch
