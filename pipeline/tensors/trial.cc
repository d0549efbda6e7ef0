#include "pipeline/tensors/trial.h"

#include <re2/re2.h>
#include <simdjson.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <tuple>

#include "pipeline/tail/read_whole_file.h"

namespace trainwatch {
namespace {

using simdjson::dom::element;

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

Result<Trial> Trial::open(FileSystem& files, const std::string& directory) {
  Trial trial{files, directory};
  if (const Status found = trial.find_index_files(); !found) return found.error();
  trial.read_index_files();
  trial.read_collections();
  trial.find_complete_steps();
  return trial;
}

Status Trial::find_index_files() {
  const auto entries = file_system_->list(directory_);
  if (!entries) return entries.error();
  if (!has_directory(*entries, "index")) return Error{directory_ + " has no index of tensors"};
  for (const DirectoryEntry& entry : *entries)
    ended_ = ended_ || entry.name == "training_job_end.ts" || entry.name == "END_OF_JOB.ts";
  const std::string index = directory_ + "/index";
  const auto thousands = file_system_->list(index);
  if (!thousands) return thousands.error();
  for (const DirectoryEntry& entry : *thousands) {
    if (entry.type == DirectoryEntry::Type::directory) add_index_files(index + '/' + entry.name);
  }
  std::sort(files_.begin(), files_.end(), [](const IndexFile& a, const IndexFile& b) {
    return std::tie(a.step, a.worker) < std::tie(b.step, b.worker);
  });
  return success();
}

void Trial::add_index_files(const std::string& directory) {
  const auto entries = file_system_->list(directory);
  if (!entries) {
    rejected_.push_back(entries.error());
    return;
  }
  for (const DirectoryEntry& entry : *entries) {
    auto name = parse_index_name(entry.name);
    if (!name) continue;
    const std::string path = directory + '/' + entry.name;
    if (files_.size() < kMaxIndexFiles) {
      files_.push_back({name->step, std::move(name->worker), path, {}});
    } else {
      rejected_.push_back({path + ": too many index files"});
    }
  }
}

void Trial::read_index_files() {
  std::set<std::string> reductions;
  std::vector<IndexFile> usable;
  for (IndexFile& file : files_) {
    const auto index = read_index(file);
    if (!index) {
      rejected_.push_back(index.error());
      continue;
    }
    file.mode_step = {index->mode, index->mode_step};
    workers_.insert(file.worker);
    modes_.try_emplace(file.step, file.mode_step);
    for (const IndexedTensor& tensor : index->tensors) {
      const bool reduced = !parse_reduction_name(tensor.name).reduction.empty();
      std::set<std::string>& to = reduced ? reductions : names_;
      if (to.size() < kMaxNames) to.insert(tensor.name);
    }
    usable.push_back(std::move(file));
  }
  files_ = std::move(usable);
  for (const std::string& reduction : reductions) names_.insert(reduced_tensor(reduction, names_));
}

void Trial::read_collections() {
  const std::string directory = directory_ + "/collections/000000000";
  const auto entries = file_system_->list(directory);
  if (!entries) return;
  for (const DirectoryEntry& entry : *entries) {
    if (!entry.name.ends_with("_collections.json")) continue;
    const std::string path = directory + '/' + entry.name;
    const auto json = read_whole_file(*file_system_, path, kMaxIndexBytes);
    const Status parsed = json ? parse_collections(*json) : Status{json.error()};
    if (parsed) return;  // the first one counts
    rejected_.push_back({path + ": " + parsed.error().message});
  }
}

Status Trial::parse_collections(std::string_view json) {
  simdjson::dom::parser parser;
  element root;
  if (const auto error = parser.parse(json.data(), json.size()).get(root))
    return Error{simdjson::error_message(error)};
  simdjson::dom::object all;
  if (root["collections"].get(all) != simdjson::SUCCESS) return Error{"no collections"};
  const auto for_each_text = [](simdjson::simdjson_result<element> list, auto&& use) {
    simdjson::dom::array texts;
    if (list.get(texts) != simdjson::SUCCESS) return;
    for (const element item : texts) {
      std::string_view text;
      if (item.get(text) == simdjson::SUCCESS) use(std::string{text});
    }
  };
  for (const auto& [name, settings] : all) {
    Collection& collection = collections_[std::string{name}];
    for_each_text(settings["tensor_names"],
                  [&](std::string text) { collection.names.insert(std::move(text)); });
    for_each_text(settings["include_regex"],
                  [&](std::string text) { collection.patterns.push_back(std::move(text)); });
  }
  if (root["_meta"]["num_workers"].get(num_workers_) != simdjson::SUCCESS) num_workers_ = 0;
  return success();
}

void Trial::find_complete_steps() {
  if (modes_.empty()) return;
  if (ended_) {
    last_complete_step_ = modes_.rbegin()->first;
    return;
  }
  const auto expected =
      std::max(static_cast<std::size_t>(std::max<std::int64_t>(num_workers_, 0)), std::size_t{1});
  const std::size_t needed = num_workers_ > 0 ? expected : workers_.size();
  std::map<std::int64_t, std::size_t> writers;
  for (const IndexFile& file : files_) ++writers[file.step];
  for (const auto& [step, count] : writers) {
    if (count >= needed) last_complete_step_ = step;
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
  for (const auto& [name, collection] : collections_) {
    std::vector<std::unique_ptr<RE2>> patterns;
    for (const std::string& pattern : collection.patterns)
      patterns.push_back(std::make_unique<RE2>(pattern, RE2::Quiet));
    std::vector<std::string>& members = result[name];
    std::copy_if(names_.begin(), names_.end(), std::back_inserter(members),
                 [&, &names = collection.names](const std::string& tensor) {
                   return names.contains(tensor) ||
                          std::any_of(patterns.begin(), patterns.end(), [&](const auto& pattern) {
                            return RE2::PartialMatch(tensor, *pattern);
                          });
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

Result<TensorIndex> Trial::read_index(const IndexFile& file) const {
  const auto json = read_whole_file(*file_system_, file.path, kMaxIndexBytes);
  if (!json) return Error{file.path + ": " + json.error().message};
  auto index = parse_tensor_index(*json);
  if (!index) return Error{file.path + ": " + index.error().message};
  return index;
}

Result<TensorValue> Trial::read_value(const TensorIndex& index, const RecordRange& range) const {
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
  std::string record(range.bytes, '\0');
  for (std::size_t at = 0; at < record.size();) {
    const auto count = (*file)->read(range.offset + at, std::span{record}.subspan(at));
    if (!count) return failed(count.error().message);
    if (*count == 0) return failed("the file ends before the record does");
    at += *count;
  }
  auto value = read_tensor_record(record);
  if (!value) return failed(value.error().message);
  return value;
}

}  // namespace trainwatch
