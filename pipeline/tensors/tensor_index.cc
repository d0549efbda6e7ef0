// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tensors/tensor_index.h"

#include <simdjson.h>

#include <array>
#include <charconv>
#include <map>
#include <utility>

namespace trainwatch {
namespace {

using simdjson::dom::element;

constexpr std::array kModeNames = {
    std::pair{TensorMode::train, "TRAIN"}, std::pair{TensorMode::eval, "EVAL"},
    std::pair{TensorMode::predict, "PREDICT"}, std::pair{TensorMode::global, "GLOBAL"}};

class IndexReader {
 public:
  explicit IndexReader(TensorIndex& index) : index_(index) {}

  Status read(element root) {
    if (const Status meta = read_meta(root); !meta) return meta;
    simdjson::dom::array values;
    simdjson::dom::array shapes;
    const bool has_values = root["tensor_payload"].get(values) == simdjson::SUCCESS;
    const bool has_shapes = root["shape_payload"].get(shapes) == simdjson::SUCCESS;
    if (!has_values && !has_shapes) return Error{"no tensor_payload and no shape_payload"};
    if (has_values) {
      for (const element value : values) {
        if (!add_values(value)) return Error{"an entry of tensor_payload is incomplete"};
      }
    }
    if (has_shapes) {
      for (const element shape : shapes) {
        if (!add_shape(shape)) return Error{"an entry of shape_payload is incomplete"};
      }
    }
    return success();
  }

 private:
  Status read_meta(element root) {
    const auto meta = root["meta"];
    std::string_view mode;
    std::string_view event_file;
    if (meta["mode"].get(mode) != simdjson::SUCCESS ||
        meta["mode_step"].get(index_.mode_step) != simdjson::SUCCESS ||
        meta["event_file_name"].get(event_file) != simdjson::SUCCESS) {
      return Error{"meta is incomplete"};
    }
    const auto known = parse_tensor_mode(mode);
    if (!known) return Error{"unknown mode " + std::string{mode}};
    index_.mode = *known;
    index_.event_file = event_file;
    return success();
  }

  bool add_values(element value) {
    RecordRange range;
    std::string_view name;
    if (value["tensorname"].get(name) != simdjson::SUCCESS ||
        value["start_idx"].get(range.offset) != simdjson::SUCCESS ||
        value["length"].get(range.bytes) != simdjson::SUCCESS) {
      return false;
    }
    tensor(name).record = range;
    return true;
  }

  bool add_shape(element value) {
    std::string_view name;
    simdjson::dom::array sizes;
    if (value["tensorname"].get(name) != simdjson::SUCCESS ||
        value["shape"].get(sizes) != simdjson::SUCCESS) {
      return false;
    }
    std::vector<std::int64_t> shape;
    for (const element size : sizes) {
      if (size.get(shape.emplace_back()) != simdjson::SUCCESS) return false;
    }
    tensor(name).shape = std::move(shape);
    return true;
  }

  IndexedTensor& tensor(std::string_view name) {
    const auto [place, added] = places_.try_emplace(std::string{name}, index_.tensors.size());
    if (added) index_.tensors.push_back({std::string{name}, std::nullopt, std::nullopt});
    return index_.tensors[place->second];
  }

  TensorIndex& index_;
  std::map<std::string, std::size_t> places_;
};

}  // namespace

std::string_view to_string(TensorMode mode) {
  for (const auto& [known, name] : kModeNames) {
    if (known == mode) return name;
  }
  return "";
}

std::optional<TensorMode> parse_tensor_mode(std::string_view text) {
  for (const auto& [mode, name] : kModeNames) {
    if (text == name) return mode;
  }
  return std::nullopt;
}

Result<TensorIndex> parse_tensor_index(std::string_view json) {
  simdjson::dom::parser parser;
  element root;
  if (const auto error = parser.parse(json.data(), json.size()).get(root))
    return Error{simdjson::error_message(error)};
  TensorIndex index;
  if (const Status read = IndexReader{index}.read(root); !read) return read.error();
  return index;
}

std::optional<IndexName> parse_index_name(std::string_view name) {
  if (!name.ends_with(".json")) return std::nullopt;
  name.remove_suffix(5);
  IndexName result;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), result.step);
  if (error != std::errc{} || result.step < 0) return std::nullopt;
  name.remove_prefix(static_cast<std::size_t>(end - name.data()));
  if (name.size() < 2 || name.front() != '_') return std::nullopt;
  result.worker = name.substr(1);
  return result;
}

}  // namespace trainwatch
