// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/tensor_response.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "daemon/app/tensor_value_response.h"
#include "pipeline/tensors/saved_tensors.h"
#include "pipeline/tensors/tensor_filter.h"
#include "pipeline/tensors/tensor_outline.h"
#include "pipeline/tensors/trial_json.h"
#include "trainwatch/json_writer.h"

namespace trainwatch {
namespace {

constexpr std::uint64_t kHeadBytes = 4096;  // of a record, in which its shape is

void write_shape(JsonWriter& json, const Trial& trial, const TensorIndex& index,
                 const SavedTensor& tensor) {
  std::optional<TensorOutline> outline;
  if (tensor.record) {
    const auto head = trial.read_record(index, *tensor.record, kHeadBytes);
    if (head) outline = outline_tensor(*head);
  }
  const auto& shape = outline && outline->shape ? outline->shape : tensor.shape;
  json.key("shape");
  if (shape) {
    json.begin_array();
    for (const std::int64_t size : *shape) json.value(size);
    json.end_array();
  } else {
    json.null();
  }
  json.key("dtype");
  if (outline && !stored_type_name(outline->type).empty()) {
    json.value(stored_type_name(outline->type));
  } else {
    json.null();
  }
}

// What each worker has saved at a step, without the values.
void write_step(JsonWriter& json, const Trial& trial, const TensorFilter& filter, TensorMode mode,
                std::int64_t step) {
  const auto global = trial.global_step(mode, step);
  const StepState state = trial.state(mode, step);
  json.field("state", to_string(state)).key("tensors").begin_array();
  if (state == StepState::available && global) {
    const auto collections = trial.collections();
    for (const Trial::IndexFile& file : trial.index_files(*global)) {
      const auto index = trial.read_index(file);
      if (!index) continue;
      for (const auto& [name, tensor] : saved_tensors(*index, trial.names())) {
        if (!filter.wants(name, collections)) continue;
        json.begin_object();
        write_place(json, trial, file, name);
        write_shape(json, trial, *index, tensor);
        json.field("has_values", tensor.record.has_value()).key("reductions").begin_array();
        for (const auto& [reduction, range] : tensor.reductions) json.value(reduction);
        json.end_array().end_object();
      }
    }
  }
  json.end_array();
}

void write_rejected(JsonWriter& json, const Trial& trial) {
  json.key("rejected").begin_array();
  for (const Error& rejected : trial.rejected()) json.value(rejected.message);
  json.end_array();
}

// The names that a step has, of all workers.
std::set<std::string> names_at(const Trial& trial, std::int64_t step) {
  std::set<std::string> names;
  for (const Trial::IndexFile& file : trial.index_files(step)) {
    const auto index = trial.read_index(file);
    if (!index) continue;
    for (const auto& [name, tensor] : saved_tensors(*index, trial.names())) names.insert(name);
  }
  return names;
}

void write_new_step(JsonWriter& json, const Trial& trial, std::int64_t step,
                    std::size_t most_names) {
  const ModeStep at = trial.mode_step(step);
  const auto names = names_at(trial, step);
  json.begin_object().field("step", step).field("mode", to_string(at.mode));
  json.field("mode_step", at.step).key("names").begin_array();
  std::size_t left = most_names;
  for (auto name = names.begin(); name != names.end() && left > 0; ++name, --left)
    json.value(*name);
  json.end_array();
  json.field("more_names", names.size() - (most_names - left)).end_object();
}

}  // namespace

HttpResponse TensorResponder::respond(RequestFiles& files, const TensorQuery& query) {
  return query.value ? value(files, query) : list(files, query);
}

HttpResponse TensorResponder::list(RequestFiles& files, const TensorQuery& query) {
  const auto filter = TensorFilter::made(query.collection, query.regex);
  if (!filter) return error_response(400, "'regex' is no pattern of RE2's");
  trials_.find(files);
  bool found = !query.trial && !query.root;
  JsonWriter json;
  json.begin_object().key("trials").begin_array();
  for (WatchedTrials::Entry& entry : trials_.all()) {
    if ((query.root && *query.root != entry.root) || (query.trial && *query.trial != entry.name))
      continue;
    found = true;
    const auto trial = trials_.read(entry, files);
    if (files.ended()) break;
    json.begin_object().field("root", entry.root).field("trial", entry.name);
    if (trial) {
      write_trial(json, **trial, *filter, query.step ? std::nullopt : query.mode);
      if (query.step)
        write_step(json, **trial, *filter, query.mode.value_or(TensorMode::global), *query.step);
      write_rejected(json, **trial);
    } else {
      json.field("error", trial.error().message);
    }
    json.end_object();
    if (json.text().size() > kMostListBytes)
      return error_response(413, "there is too much to list; choose a 'trial' or a 'regex'");
  }
  if (!found) return error_response(404, "there is no such trial");
  json.end_array().end_object();
  HttpResponse response;
  response.body = json.take() + "\n";
  return response;
}

HttpResponse TensorResponder::value(RequestFiles& files, const TensorQuery& query) {
  auto choice = trials_.choose(query.root, query.trial);
  if (choice.refused == 404) {
    trials_.find(files);
    choice = trials_.choose(query.root, query.trial);
  }
  if (choice.refused != 0) return error_response(choice.refused, choice.why);
  const auto trial = trials_.read(*choice.entry, files);
  if (!trial) return error_response(404, trial.error().message);
  return tensor_value_response(**trial, query, kMostBytes);
}

TensorNews TensorResponder::news(RequestFiles& files, bool find) {
  if (find) trials_.find(files);
  TensorNews news;
  JsonWriter json;
  json.begin_object().key("trials").begin_array();
  bool any = false;
  std::size_t read = 0;
  // The last ones first: names of jobs often have a date.
  for (auto last = trials_.all().rbegin(); last != trials_.all().rend(); ++last) {
    WatchedTrials::Entry& entry = *last;
    if (entry.end_announced) continue;
    if (++read > WatchedTrials::kMostRead) break;
    const auto trial = trials_.read(entry, files);
    if (!trial || files.ended()) continue;
    const std::int64_t complete = (*trial)->last_complete_step();
    const std::int64_t before = std::exchange(entry.announced, complete);
    entry.end_announced = (*trial)->loaded_all_steps();
    if (complete <= before && !entry.end_announced) continue;
    auto steps = (*trial)->steps(TensorMode::global);
    steps.erase(steps.begin(), std::ranges::upper_bound(steps, before));
    const std::size_t skipped = steps.size() - std::min(steps.size(), kMostSteps);
    steps.erase(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(skipped));
    any = true;
    news.steps += steps.size();
    json.begin_object().field("root", entry.root).field("trial", entry.name);
    json.field("last_complete_step", complete).field("loaded_all_steps", entry.end_announced);
    json.field("skipped", skipped).key("steps").begin_array();
    for (const std::int64_t step : steps) write_new_step(json, **trial, step, kMostNames);
    json.end_array().end_object();
  }
  json.end_array().end_object();
  if (any) news.json = json.take();
  return news;
}

}  // namespace trainwatch
