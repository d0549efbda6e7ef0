// SPDX-License-Identifier: Apache-2.0
// Writes Flight Recorder dumps as PyTorch does: protocol 2, strings memoised; and the same as JSON.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/decode/flight_recorder/flight_dump.h"
#include "trainwatch/json_writer.h"

namespace trainwatch::testing {

// The opcodes of torch/csrc/jit/serialization/pickler.cpp.
class PickleWriter {
 public:
  std::string take() { return out_ + "."; }
  PickleWriter& raw(std::string_view bytes) {
    out_ += bytes;
    return *this;
  }
  PickleWriter& text(const std::string& text) {
    const auto [entry, is_new] = memo_.try_emplace(text, memo_.size());
    const auto index = static_cast<std::uint32_t>(entry->second);
    if (!is_new) return index < 256 ? raw("h").bytes(index, 1) : raw("j").bytes(index, 4);
    raw("X").bytes(text.size(), 4).raw(text);
    return index < 256 ? raw("q").bytes(index, 1) : raw("r").bytes(index, 4);
  }
  PickleWriter& integer(std::int64_t value) {
    if (value >= 0 && value < 256) return raw("K").bytes(static_cast<std::uint64_t>(value), 1);
    if (value >= 0 && value < 65536) return raw("M").bytes(static_cast<std::uint64_t>(value), 2);
    const bool small = value >= INT32_MIN && value <= INT32_MAX;
    if (small) return raw("J").bytes(static_cast<std::uint64_t>(value), 4);
    return raw("\x8a\x08").bytes(static_cast<std::uint64_t>(value), 8);
  }
  PickleWriter& flag(bool value) { return raw(value ? "\x88" : "\x89"); }
  PickleWriter& texts(const std::vector<std::string>& values) {
    raw("](");
    for (const auto& value : values) text(value);
    return raw("e");
  }
  PickleWriter& shapes(const std::vector<std::vector<std::int64_t>>& values) {
    raw("](");
    for (const auto& shape : values) {
      raw("](");
      for (const auto size : shape) integer(size);
      raw("e");
    }
    return raw("e");
  }
  PickleWriter& bytes(std::uint64_t value, int size) {
    for (int i = 0; i < size; ++i) out_ += static_cast<char>(value >> (8 * i));
    return *this;
  }

 private:
  std::string out_ = "\x80\x02";
  std::map<std::string, std::size_t> memo_;
};

inline std::string ranks_text(const FlightGroup& group) {
  std::string text = "[";
  for (const auto rank : group.ranks.all())
    text += (text.size() > 1 ? ", " : "") + std::to_string(rank);
  return text + "]";
}

// Groups have numbers in the order in which the dump has them, from 10 on.
inline std::string pickle_dump(const RankDump& dump) {
  PickleWriter out;
  out.raw("}(").text("version").text(dump.version).text("pg_config").raw("}(");
  for (const FlightGroup& group : dump.groups) {
    out.text(group.name).raw("}(").text("name").text(group.name).text("desc");
    out.text(group.description).text("ranks").text(ranks_text(group)).raw("u");
  }
  out.raw("u").text("nccl_version").text("2.27.3").text("pg_status").raw("}(");
  std::int64_t id = 10;
  for (const FlightGroup& group : dump.groups) {
    const auto number = std::to_string(id++);
    if (!group.progress) continue;
    out.text(number).raw("}(").text("last_enqueued_collective").integer(group.progress->enqueued);
    out.text("last_started_collective").integer(-1);
    out.text("last_completed_collective").integer(group.progress->completed).raw("u");
  }
  out.raw("u").text("entries").raw("](");
  id = 10;
  for (const FlightGroup& group : dump.groups) {
    for (const FlightOperation& operation : group.operations) {
      out.raw("}(").text("record_id").integer(operation.record).text("pg_id").integer(id);
      out.text("process_group").text(group.name).text(group.description).raw("\x86");
      out.text("collective_seq_id").integer(operation.sequence);
      out.text("p2p_seq_id").integer(operation.p2p_sequence).text("op_id").integer(1);
      out.text("profiling_name").text("nccl:" + operation.name).text("time_created_ns");
      out.integer(to_ns(operation.created));
      out.text("input_sizes").shapes(operation.inputs);
      out.text("input_dtypes").texts(operation.input_types);
      out.text("output_sizes").shapes(operation.outputs);
      out.text("output_dtypes").texts(operation.output_types);
      out.text("state").text(operation.completed ? "completed" : "scheduled");
      out.text("time_discovered_started_ns").raw("N").text("time_discovered_completed_ns").raw("N");
      out.text("retired").flag(operation.retired).text("timeout_ms").integer(operation.timeout_ms);
      out.text("is_p2p").flag(operation.p2p).raw("u");
    }
    ++id;
  }
  return out.raw("eu").take();
}

inline void shapes_to(JsonWriter& json, const std::vector<std::vector<std::int64_t>>& shapes) {
  json.begin_array();
  for (const auto& shape : shapes) {
    json.begin_array();
    for (const auto size : shape) json.value(size);
    json.end_array();
  }
  json.end_array();
}
inline void texts_to(JsonWriter& json, const std::vector<std::string>& texts) {
  json.begin_array();
  for (const auto& text : texts) json.value(text);
  json.end_array();
}

inline std::string json_dump(const RankDump& dump) {
  JsonWriter json;
  json.begin_object().key("entries").begin_array();
  std::int64_t id = 10;
  for (const FlightGroup& group : dump.groups) {
    for (const FlightOperation& operation : group.operations) {
      json.begin_object().field("collective_seq_id", operation.sequence);
      json.key("input_dtypes");
      texts_to(json, operation.input_types);
      json.key("input_sizes");
      shapes_to(json, operation.inputs);
      json.field("is_p2p", operation.p2p).field("p2p_seq_id", operation.p2p_sequence);
      json.key("output_dtypes");
      texts_to(json, operation.output_types);
      json.key("output_sizes");
      shapes_to(json, operation.outputs);
      json.field("pg_id", id).key("process_group");
      texts_to(json, {group.name, group.description});
      json.field("profiling_name", "nccl:" + operation.name);
      json.field("record_id", operation.record).field("retired", operation.retired);
      json.field("state", operation.completed ? "completed" : "scheduled");
      json.field("time_created_ns", to_ns(operation.created));
      json.field("time_discovered_completed_ns", std::int64_t{0});
      json.field("timeout_ms", operation.timeout_ms).end_object();
    }
    ++id;
  }
  json.end_array().key("pg_config").begin_object();
  for (const FlightGroup& group : dump.groups) {
    json.key(group.name).begin_object().field("desc", group.description);
    json.field("name", group.name).field("ranks", ranks_text(group)).end_object();
  }
  json.end_object().key("pg_status").begin_object();
  id = 10;
  for (const FlightGroup& group : dump.groups) {
    const auto number = std::to_string(id++);
    if (!group.progress) continue;
    json.key(number).begin_object();
    json.field("last_completed_collective", std::to_string(group.progress->completed));
    json.field("last_enqueued_collective", std::to_string(group.progress->enqueued));
    json.field("last_started_collective", "-1").end_object();
  }
  return json.end_object().field("version", dump.version).end_object().take();
}

}  // namespace trainwatch::testing
