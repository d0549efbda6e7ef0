// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/flight_recorder/flight_fields.h"

#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <utility>

#include "pipeline/decode/flight_recorder/pickle_reader.h"
#include "pipeline/decode/json_cursor.h"

namespace trainwatch {
namespace {

using Kind = PickleContainer::Kind;

constexpr std::size_t kMostFrames = 16;  // of an operation, the innermost
constexpr std::size_t kMostDepth = 32;   // of a JSON document

std::string_view text_of(const PickleValue* value) {
  const auto* const text = value == nullptr ? nullptr : std::get_if<std::string_view>(value);
  return text == nullptr ? std::string_view{} : *text;
}

// Numbers in JSON are strings in places.
std::optional<std::int64_t> integer_of(const PickleValue* value) {
  if (value == nullptr) return std::nullopt;
  if (const auto* const number = std::get_if<std::int64_t>(value)) return *number;
  const std::string_view text = text_of(value);
  std::int64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || failure != std::errc{} || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return number;
}

std::string id_of(const PickleValue* value) {
  const auto number = integer_of(value);
  return number ? std::to_string(*number) : std::string(text_of(value));
}

bool flag_of(const PickleValue* value) {
  const auto* const flag = value == nullptr ? nullptr : std::get_if<bool>(value);
  return flag != nullptr && *flag;
}

// Lists and tuples alike: JSON has no tuples.
const std::vector<PickleValue>& sequence_of(const PickleValue* value) {
  static const std::vector<PickleValue> kNone;
  const PickleContainer* found = container_of(value, Kind::list);
  if (found == nullptr) found = container_of(value, Kind::tuple);
  return found == nullptr ? kNone : found->items;
}

std::vector<std::vector<std::int64_t>> shapes_of(const PickleValue* value) {
  std::vector<std::vector<std::int64_t>> shapes;
  for (const PickleValue& shape : sequence_of(value)) {
    auto& sizes = shapes.emplace_back();
    for (const PickleValue& size : sequence_of(&shape)) {
      sizes.push_back(integer_of(&size).value_or(0));
    }
  }
  return shapes;
}

std::vector<std::string> texts_of(const PickleValue* value) {
  std::vector<std::string> texts;
  for (const PickleValue& text : sequence_of(value)) texts.emplace_back(text_of(&text));
  return texts;
}

std::vector<std::string> frames_of(const PickleValue* value) {
  std::vector<std::string> frames;
  for (const PickleValue& entry : sequence_of(value)) {
    const auto* const frame = container_of(&entry, Kind::dict);
    if (frame == nullptr || frames.size() == kMostFrames) continue;
    frames.push_back(std::string(text_of(frame->find("name"))) + " (" +
                     std::string(text_of(frame->find("filename"))) + ":" +
                     id_of(frame->find("line")) + ")");
  }
  return frames;
}

Time created_at(const PickleValue* value) {
  const auto ns = integer_of(value);
  return ns && *ns > 0 ? time_from_ns(*ns) : kNoTime;
}

bool is_operation(const PickleContainer& dict) {
  return dict.find("profiling_name") != nullptr && dict.find("collective_seq_id") != nullptr;
}

FlightFields::Recorded operation_of(const PickleContainer& dict) {
  FlightFields::Recorded recorded;
  recorded.group_id = id_of(dict.find("pg_id"));
  const auto& group = sequence_of(dict.find("process_group"));
  if (!group.empty()) recorded.group = text_of(&group.front());
  FlightOperation& operation = recorded.operation;
  operation.record = integer_of(dict.find("record_id")).value_or(0);
  operation.sequence = integer_of(dict.find("collective_seq_id")).value_or(-1);
  operation.p2p_sequence = integer_of(dict.find("p2p_seq_id")).value_or(0);
  operation.name = without_backend(text_of(dict.find("profiling_name")));
  // Before 2.3 there is no is_p2p.
  const bool named_p2p = operation.name.starts_with("send ") || operation.name.starts_with("recv ");
  operation.p2p = flag_of(dict.find("is_p2p")) || named_p2p;
  operation.completed = text_of(dict.find("state")) == "completed";
  operation.retired = flag_of(dict.find("retired"));
  operation.created = created_at(dict.find("time_created_ns"));
  operation.timeout_ms = std::max<std::int64_t>(integer_of(dict.find("timeout_ms")).value_or(0), 0);
  operation.inputs = shapes_of(dict.find("input_sizes"));
  operation.outputs = shapes_of(dict.find("output_sizes"));
  operation.input_types = texts_of(dict.find("input_dtypes"));
  operation.output_types = texts_of(dict.find("output_dtypes"));
  operation.frames = frames_of(dict.find("frames"));
  return recorded;
}

FlightGroup group_of(const std::string& name, const PickleContainer& dict) {
  FlightGroup group;
  group.name = name;
  group.description = text_of(dict.find("desc"));
  const PickleValue* const ranks = dict.find("ranks");
  std::vector<std::int32_t> listed = parse_ranks(text_of(ranks));
  for (const PickleValue& rank : sequence_of(ranks)) {
    const auto number = integer_of(&rank);
    if (number && *number >= 0) listed.push_back(static_cast<std::int32_t>(*number));
  }
  group.ranks = RankList(std::move(listed));
  return group;
}

// Everything but the operations, which were taken as they came.
bool read_root(const PickleValue& value, FlightFields& fields) {
  const auto* const root = container_of(&value, Kind::dict);
  if (root == nullptr || root->find("version") == nullptr) return false;
  fields.version = text_of(root->find("version"));
  if (const auto* const config = container_of(root->find("pg_config"), Kind::dict)) {
    for (std::size_t i = 0; i + 1 < config->items.size(); i += 2) {
      const std::string name(text_of(&config->items[i]));
      const auto* const group = container_of(&config->items[i + 1], Kind::dict);
      if (group != nullptr) fields.groups[name] = group_of(name, *group);
    }
  }
  if (const auto* const status = container_of(root->find("pg_status"), Kind::dict)) {
    for (std::size_t i = 0; i + 1 < status->items.size(); i += 2) {
      const auto* const group = container_of(&status->items[i + 1], Kind::dict);
      const auto enqueued =
          group == nullptr ? std::nullopt : integer_of(group->find("last_enqueued_collective"));
      if (!enqueued) continue;
      fields.progress[std::string(text_of(&status->items[i]))] = {
          *enqueued, integer_of(group->find("last_completed_collective")).value_or(-1)};
    }
  }
  return true;
}

PickleValue json_value_of(const simdjson::dom::element& element, std::size_t depth);

std::shared_ptr<PickleContainer> container_from(const simdjson::dom::element& element,
                                                std::size_t depth) {
  auto made = std::make_shared<PickleContainer>();
  simdjson::dom::object object;
  if (element.get(object) == simdjson::SUCCESS) {
    made->kind = Kind::dict;
    for (const auto& [key, value] : object) {
      made->items.emplace_back(std::string_view(key));
      made->items.push_back(json_value_of(value, depth + 1));
    }
    return made;
  }
  simdjson::dom::array array;
  if (element.get(array) == simdjson::SUCCESS) {
    for (const auto& value : array) made->items.push_back(json_value_of(value, depth + 1));
  }
  return made;
}

PickleValue json_value_of(const simdjson::dom::element& element, std::size_t depth) {
  switch (element.type()) {
    case simdjson::dom::element_type::ARRAY:
    case simdjson::dom::element_type::OBJECT:
      if (depth == kMostDepth) return std::monostate{};
      return container_from(element, depth);
    case simdjson::dom::element_type::INT64:
      return std::int64_t{element};
    case simdjson::dom::element_type::UINT64:
    case simdjson::dom::element_type::DOUBLE:
      return double{element};
    case simdjson::dom::element_type::STRING:
      return std::string_view{element};
    case simdjson::dom::element_type::BOOL:
      return bool{element};
    case simdjson::dom::element_type::NULL_VALUE:
      break;
  }
  return std::monostate{};
}

}  // namespace

std::vector<std::int32_t> parse_ranks(std::string_view text) {
  std::vector<std::int32_t> ranks;
  constexpr std::string_view kDigits = "0123456789";
  for (auto at = text.find_first_of(kDigits); at != std::string_view::npos;
       at = text.find_first_of(kDigits, at)) {
    const auto end = std::min(text.find_first_not_of(kDigits, at), text.size());
    std::int32_t rank = 0;
    if (std::from_chars(text.data() + at, text.data() + end, rank).ec == std::errc{}) {
      ranks.push_back(rank);
    }
    at = end;
  }
  return ranks;
}

std::string without_backend(std::string_view name) {
  const auto colon = name.find(':');
  return std::string(colon == std::string_view::npos ? name : name.substr(colon + 1));
}

FieldsEnd read_pickle_fields(std::string_view bytes, FlightFields& fields) {
  const PickleResult read = read_pickle(bytes, [&fields](const PickleContainer& dict) {
    if (!is_operation(dict)) return false;
    fields.operations.push_back(operation_of(dict));
    return true;
  });
  if (read.end == PickleResult::End::incomplete) return {};
  if (read.end == PickleResult::End::damaged)
    return {FlightDumpResult::End::damaged, 0, read.error};
  if (!read_root(read.value, fields))
    return {FlightDumpResult::End::damaged, 0, "not a Flight Recorder dump"};
  return {FlightDumpResult::End::whole, read.bytes, {}};
}

FieldsEnd read_json_fields(std::string_view bytes, FlightFields& fields) {
  JsonCursor cursor(bytes);
  std::string_view key;
  if (cursor.enter()) {
    while (cursor.next(key)) cursor.value();
  }
  if (cursor.ran_out()) return {};
  if (cursor.failed()) return {FlightDumpResult::End::damaged, 0, "not JSON"};
  const std::size_t size = bytes.size() - cursor.rest().size();
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  if (parser.parse(bytes.data(), size).get(document) != simdjson::SUCCESS) {
    return {FlightDumpResult::End::damaged, 0, "not JSON"};
  }
  const PickleValue root = json_value_of(document, 0);
  if (!read_root(root, fields))
    return {FlightDumpResult::End::damaged, 0, "not a Flight Recorder dump"};
  const auto* const dict = container_of(&root, Kind::dict);
  for (const PickleValue& entry : sequence_of(dict->find("entries"))) {
    const auto* const operation = container_of(&entry, Kind::dict);
    if (operation != nullptr && is_operation(*operation)) {
      fields.operations.push_back(operation_of(*operation));
    }
  }
  return {FlightDumpResult::End::whole, size, {}};
}

}  // namespace trainwatch
