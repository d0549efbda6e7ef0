// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/flight_recorder/flight_dump.h"

#include <algorithm>
#include <charconv>
#include <tuple>
#include <utility>

#include "pipeline/decode/bounded_memory.h"
#include "pipeline/decode/flight_recorder/flight_fields.h"
#include "pipeline/decode/flight_recorder/pickle_reader.h"

namespace trainwatch {
namespace {

// Numbers before words, by value: the order in which groups were made.
bool is_made_before(const std::string& a, const std::string& b) {
  return std::pair(a.size(), std::string_view(a)) < std::pair(b.size(), std::string_view(b));
}
bool is_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// The name of the group behind each number of this process: as the operations have it, else, where
// names are numbers, by order. Both count the groups as they are made.
std::map<std::string, std::string> group_names(const FlightFields& fields) {
  std::map<std::string, std::string> names;
  std::vector<std::string> made;
  for (const auto& [name, group] : fields.groups) made.push_back(name);
  std::vector<std::string> numbers;
  for (const auto& [id, progress] : fields.progress) numbers.push_back(id);
  if (made.size() == numbers.size() && std::ranges::all_of(made, is_digits) &&
      std::ranges::all_of(numbers, is_digits)) {
    std::ranges::sort(made, is_made_before);
    std::ranges::sort(numbers, is_made_before);
    for (std::size_t i = 0; i < made.size(); ++i) names[numbers[i]] = made[i];
  }
  // One operation that contradicts the order makes all of it a guess.
  const bool contradicted = std::ranges::any_of(fields.operations, [&](const auto& operation) {
    const auto known = names.find(operation.group_id);
    return known != names.end() && known->second != operation.group;
  });
  if (contradicted) names.clear();
  for (const auto& operation : fields.operations) names[operation.group_id] = operation.group;
  return names;
}

RankDump assemble(FlightFields fields) {
  RankDump dump;
  dump.version = std::move(fields.version);
  const auto names = group_names(fields);
  std::map<std::string, FlightGroup> groups = std::move(fields.groups);
  for (const auto& [id, progress] : fields.progress) {
    const auto name = names.find(id);
    if (name == names.end()) continue;
    if (const auto group = groups.find(name->second); group != groups.end()) {
      group->second.progress = progress;
    }
  }
  for (auto& operation : fields.operations) {
    // A group whose communicator is gone: without its ranks, nothing can be said of it.
    const auto group = groups.find(operation.group);
    if (group == groups.end()) continue;
    group->second.operations.push_back(std::move(operation.operation));
  }
  for (auto& [name, group] : groups) {
    std::ranges::stable_sort(group.operations, {}, &FlightOperation::record);
    dump.groups.push_back(std::move(group));
  }
  return dump;
}

}  // namespace

void FlightOperation::state(StateIo& io) {
  io(record);
  io(sequence);
  io(p2p_sequence);
  io(name);
  io(p2p);
  io(completed);
  io(retired);
  io(created);
  io(timeout_ms);
  io(inputs);
  io(outputs);
  io(input_types);
  io(output_types);
  io(frames);
  if (!is_possible(created)) io.fail();
}

void RankDump::state(StateIo& io) {
  io(rank);
  io(written);
  io(version);
  io(groups);
  io(entries);
  io(copied);
  io(has_first_pending);
  if (!is_possible(written) || rank < 0) io.fail();
}

FlightDumpResult read_flight_dump(std::string_view bytes) {
  FlightDumpResult result;
  FlightFields fields;
  const auto first = bytes.find_first_not_of(" \t\r\n");
  const bool json = first != std::string_view::npos && bytes[first] == '{';
  try {
    FieldsEnd read = json ? read_json_fields(bytes, fields) : read_pickle_fields(bytes, fields);
    result.end = read.end;
    result.bytes = read.bytes;
    result.error = std::move(read.error);
  } catch (const OverBudget& over) {
    result.end = FlightDumpResult::End::damaged;
    result.error = over.what();
  }
  if (result.end == FlightDumpResult::End::whole) result.dump = assemble(std::move(fields));
  return result;
}

Time time_of_dump(const RankDump& dump, Time file_written) {
  constexpr Nanos kUsualTimeout =
      std::chrono::minutes(10);  // NCCL's, where the dump does not say it
  constexpr Nanos kLongestTimeout = std::chrono::hours(24);
  constexpr Nanos kSlack = std::chrono::hours(1);
  Time latest = kNoTime;
  Nanos timeout{};
  for (const FlightGroup& group : dump.groups) {
    for (const FlightOperation& operation : group.operations) {
      if (operation.created == kNoTime) continue;
      if (latest == kNoTime || operation.created > latest) latest = operation.created;
      timeout = std::max<Nanos>(
          timeout, std::chrono::milliseconds(std::min<std::int64_t>(
                       operation.timeout_ms, kLongestTimeout / std::chrono::milliseconds(1))));
    }
  }
  if (latest == kNoTime) return file_written;
  if (timeout == Nanos{}) timeout = kUsualTimeout;
  return file_written - latest > timeout + kSlack ? latest + timeout : file_written;
}

std::optional<std::int32_t> rank_of_dump(std::string_view path) {
  if (path.ends_with(".gz")) path.remove_suffix(3);
  if (path.ends_with(".json")) path.remove_suffix(5);
  const std::size_t begin = path.find_last_not_of("0123456789") + 1;
  std::int32_t rank = 0;
  const auto [end, failure] = std::from_chars(path.data() + begin, path.data() + path.size(), rank);
  if (failure != std::errc{} || end != path.data() + path.size()) return std::nullopt;
  return rank;
}

bool begins_flight_dump(std::string_view head) {
  constexpr std::size_t kWithin = 4096;
  if (head.size() < 2 || head[0] != '\x80' || head[1] < 2 || head[1] > 5) return false;
  const std::string_view searched = head.substr(0, kWithin);
  // A pickled dict: of PyTorch's writer, or of Python's with its frame.
  const std::string_view body = searched.substr(searched.size() > 11 && head[2] == '\x95' ? 11 : 2);
  if (!body.starts_with('}')) return false;
  return searched.find("version") != std::string_view::npos ||
         searched.find("pg_config") != std::string_view::npos;
}

}  // namespace trainwatch
