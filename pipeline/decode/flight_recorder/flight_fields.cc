// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/flight_recorder/flight_fields.h"

#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <span>
#include <utility>

#include "pipeline/decode/bounded_memory.h"
#include "pipeline/decode/flight_recorder/pickle_reader.h"
#include "pipeline/decode/json_cursor.h"
#include "pipeline/decode/json_walk.h"

namespace trainwatch {
namespace {

using Kind = PickleContainer::Kind;

constexpr std::size_t kMostFrames = 16;                   // of an operation, the innermost
constexpr std::size_t kMostDepth = 32;                    // of a JSON document
constexpr std::size_t kMostJson = std::size_t{1} << 20U;  // bytes of an operation, or of a member

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
std::span<const PickleValue> sequence_of(const PickleValue* value) {
  const PickleContainer* found = container_of(value, Kind::list);
  if (found == nullptr) found = container_of(value, Kind::tuple);
  if (found == nullptr) return {};
  return found->items;
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
  const auto group = sequence_of(dict.find("process_group"));
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

std::size_t bytes_of(const std::vector<std::string>& texts) {
  std::size_t bytes = 0;
  for (const std::string& text : texts) bytes += sizeof(std::string) + text.size();
  return bytes;
}
std::size_t bytes_of(const std::vector<std::vector<std::int64_t>>& shapes) {
  std::size_t bytes = 0;
  for (const auto& shape : shapes) bytes += sizeof(std::vector<std::int64_t>) + 8 * shape.size();
  return bytes;
}

void add_operation(const PickleContainer& dict, FlightFields& fields) {
  fields.operations.push_back(operation_of(dict));
  const auto& [group_id, group, made] = fields.operations.back();
  fields.hold(sizeof(FlightFields::Recorded) + group_id.size() + group.size() + made.name.size() +
              bytes_of(made.inputs) + bytes_of(made.outputs) + bytes_of(made.input_types) +
              bytes_of(made.output_types) + bytes_of(made.frames));
}

void add_group(std::string_view key, const PickleValue& value, FlightFields& fields) {
  const auto* const dict = container_of(&value, Kind::dict);
  if (dict == nullptr) return;
  const std::string name(key);
  const FlightGroup& group = fields.groups[name] = group_of(name, *dict);
  fields.hold(2 * sizeof group + group.description.size() + 2 * name.size() +
              group.ranks.size() * sizeof(std::int32_t));
}

void add_progress(std::string_view key, const PickleValue& value, FlightFields& fields) {
  const auto* const dict = container_of(&value, Kind::dict);
  const auto enqueued =
      dict == nullptr ? std::nullopt : integer_of(dict->find("last_enqueued_collective"));
  if (!enqueued) return;
  fields.hold(2 * sizeof(FlightProgress) + 2 * sizeof(std::string) + key.size());
  fields.progress[std::string(key)] = {
      *enqueued, integer_of(dict->find("last_completed_collective")).value_or(-1)};
}

// The function that adds a row of this table of the root; null: there is no such table.
using AddMember = void (*)(std::string_view, const PickleValue&, FlightFields&);
AddMember add_member_of(std::string_view table) {
  if (table == "pg_config") return &add_group;
  return table == "pg_status" ? &add_progress : nullptr;
}

FieldsEnd damaged(std::string why) {
  return {FlightDumpResult::End::damaged, 0, std::move(why)};
}

// Reads values of a JSON document, one at a time: a value is valid until the next is read.
class JsonValues {
 public:
  explicit JsonValues(std::pmr::memory_resource& memory) : memory_(&memory) {}

  // nullopt: it is not JSON, or longer than kMostJson.
  std::optional<PickleValue> read(std::string_view text) {
    simdjson::dom::element element;
    if (parser_.parse(text.data(), text.size()).get(element) != simdjson::SUCCESS)
      return std::nullopt;
    return value_of(element, 0);
  }

 private:
  PickleValue value_of(const simdjson::dom::element& element, std::size_t depth) const {
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
  std::shared_ptr<PickleContainer> container_from(const simdjson::dom::element& element,
                                                  std::size_t depth) const {
    simdjson::dom::object object;
    const bool is_dict = element.get(object) == simdjson::SUCCESS;
    auto made = make_container(is_dict ? Kind::dict : Kind::list, *memory_);
    if (is_dict) {
      for (const auto& [key, value] : object) {
        made->items.emplace_back(std::string_view(key));
        made->items.push_back(value_of(value, depth + 1));
      }
      return made;
    }
    simdjson::dom::array array;
    if (element.get(array) != simdjson::SUCCESS) return made;
    for (const auto& value : array) made->items.push_back(value_of(value, depth + 1));
    return made;
  }

  std::pmr::memory_resource* memory_;
  simdjson::dom::parser parser_{kMostJson};
};

// False: some of it is not JSON.
bool read_json_members(std::string_view document, FlightFields& fields) {
  BoundedMemory memory(kPickleMemory);
  JsonValues values(memory);
  bool good = true;
  const auto read_operation = [&](std::string_view text) {
    const auto value = values.read(text);
    good = good && value;
    const auto* const dict = value ? container_of(&*value, Kind::dict) : nullptr;
    if (dict != nullptr && is_operation(*dict)) add_operation(*dict, fields);
  };
  const auto read = [&](std::string_view key, std::string_view text) {
    const AddMember add = add_member_of(key);
    if (key == "entries" && text.starts_with('[')) {
      good = each_element(text, read_operation) && good;
    } else if (add != nullptr && text.starts_with('{')) {
      good = each_member(text,
                         [&](std::string_view name, std::string_view member) {
                           const auto plain = values.read('"' + std::string(name) + '"');
                           const std::string unescaped(plain ? text_of(&*plain) : name);
                           const auto value = values.read(member);
                           good = good && value;
                           if (value) add(unescaped, *value, fields);
                         }) &&
             good;
    } else {
      const auto value = values.read(text);
      good = good && value;
      if (value && key == "version") fields.version = text_of(&*value);
    }
  };
  return each_member(document, read) && good;
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

void FlightFields::hold(std::size_t bytes) {
  held_ += bytes;
  if (held_ > kMostBytes) throw OverBudget();
}

FieldsEnd read_pickle_fields(std::string_view bytes, FlightFields& fields) {
  BoundedMemory memory(kPickleMemory);
  const PickleResult read = read_pickle(bytes, memory, [&fields](const PickleContainer& dict) {
    if (!is_operation(dict)) return false;
    add_operation(dict, fields);
    return true;
  });
  if (read.end == PickleResult::End::incomplete) return {};
  if (read.end == PickleResult::End::damaged) return damaged(read.error);
  const auto* const root = container_of(&read.value, Kind::dict);
  if (root == nullptr || root->find("version") == nullptr)
    return damaged("not a Flight Recorder dump");
  fields.version = text_of(root->find("version"));
  for (const std::string_view table : {"pg_config", "pg_status"}) {
    const auto* const dict = container_of(root->find(table), Kind::dict);
    const std::size_t size = dict == nullptr ? 0 : dict->items.size();
    for (std::size_t i = 0; i + 1 < size; i += 2) {
      add_member_of(table)(text_of(&dict->items[i]), dict->items[i + 1], fields);
    }
  }
  return {FlightDumpResult::End::whole, read.bytes, {}};
}

FieldsEnd read_json_fields(std::string_view bytes, FlightFields& fields) {
  JsonCursor cursor(bytes);
  bool has_version = false;
  if (cursor.enter()) {
    for (std::string_view key; cursor.next(key); cursor.value()) {
      has_version = has_version || key == "version";
    }
  }
  if (cursor.ran_out()) return {};
  if (cursor.failed()) return damaged("not JSON");
  const std::size_t size = bytes.size() - cursor.rest().size();
  if (!read_json_members(bytes.substr(0, size), fields)) return damaged("not JSON");
  if (!has_version) return damaged("not a Flight Recorder dump");
  return {FlightDumpResult::End::whole, size, {}};
}

}  // namespace trainwatch
