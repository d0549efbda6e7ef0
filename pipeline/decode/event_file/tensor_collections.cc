// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/event_file/tensor_collections.h"

#include <re2/re2.h>
#include <simdjson.h>

#include <algorithm>
#include <utility>

namespace trainwatch {
namespace {

template <class Use>
void for_each_text(simdjson::simdjson_result<simdjson::dom::element> list, Use&& use) {
  simdjson::dom::array texts;
  if (list.get(texts) != simdjson::SUCCESS) return;
  for (const simdjson::dom::element item : texts) {
    std::string_view text;
    if (item.get(text) == simdjson::SUCCESS) use(text);
  }
}

}  // namespace

TensorCollections::TensorCollections() = default;
TensorCollections::~TensorCollections() = default;
TensorCollections::TensorCollections(TensorCollections&&) noexcept = default;
TensorCollections& TensorCollections::operator=(TensorCollections&&) noexcept = default;
TensorCollections::Collection::Collection() = default;
TensorCollections::Collection::~Collection() = default;
TensorCollections::Collection::Collection(Collection&&) noexcept = default;
TensorCollections::Collection& TensorCollections::Collection::operator=(Collection&&) noexcept =
    default;

Result<TensorCollections> TensorCollections::parse(std::string_view json) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (const auto error = parser.parse(json.data(), json.size()).get(root))
    return Error{simdjson::error_message(error)};
  simdjson::dom::object all;
  if (root["collections"].get(all) != simdjson::SUCCESS) return Error{"no collections"};
  TensorCollections read;
  for (const auto& [name, settings] : all) {
    if (read.all_.size() == kMaxCollections) break;
    Collection& collection = read.all_.emplace_back();
    collection.name = name;
    for_each_text(settings["tensor_names"], [&](std::string_view text) {
      constexpr std::size_t kOfNode = 80;
      read.bytes_ += text.size() + kOfNode;
      collection.tensors.emplace(text);
    });
    for_each_text(settings["include_regex"],
                  [&](std::string_view text) { read.add_pattern(collection, text); });
  }
  if (root["_meta"]["num_workers"].get(read.num_workers_) != simdjson::SUCCESS)
    read.num_workers_ = 0;
  return read;
}

// A few bytes of a pattern may stand for thousands of its copies.
void TensorCollections::add_pattern(Collection& collection, std::string_view text) {
  constexpr std::size_t kOfOne = std::size_t{64} << 10U;  // compiled, with what matching keeps
  const auto refuse = [&](std::string why) {
    if (refused_.size() == kMaxCollections) return;
    refused_.push_back({collection.name, std::string{text}, std::move(why)});
  };
  RE2::Options options(RE2::Quiet);
  options.set_max_mem(kOfOne);
  if (pattern_bytes_ + kOfOne > kMaxPatterns) return refuse("there are too many");
  auto pattern = std::make_unique<RE2>(text, options);
  if (!pattern->ok()) return refuse(pattern->error());
  pattern_bytes_ += kOfOne;
  bytes_ += kOfOne;
  collection.patterns.push_back(std::move(pattern));
}

bool TensorCollections::Collection::has(std::string_view tensor) const {
  if (tensors.contains(tensor)) return true;
  return std::ranges::any_of(
      patterns, [tensor](const auto& pattern) { return RE2::PartialMatch(tensor, *pattern); });
}

}  // namespace trainwatch
