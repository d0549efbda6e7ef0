// SPDX-License-Identifier: Apache-2.0
#include "rules/tensor/tensor_selection.h"

#include <re2/re2.h>

#include <algorithm>
#include <span>

#include "trainwatch/trimmed.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMostParts = 32;
constexpr std::string_view kReductions = "smdebug/reductions/";

std::vector<std::string> parts_of(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    if (const auto part = trimmed(list.substr(0, end)); !part.empty()) parts.emplace_back(part);
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return parts;
}

bool contains(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

bool is_gradient(std::string_view name) {
  return name.starts_with("gradient");
}

// How smdebug's hooks name the tensors of their built-in collections.
bool is_usual_name(std::string_view collection, std::string_view name) {
  if (collection == "gradients") return is_gradient(name);
  if (collection == "weights") return contains(name, "weight") && !is_gradient(name);
  if (collection == "biases") return contains(name, "bias") && !is_gradient(name);
  if (collection == "losses") {
    return (contains(name, "loss") || contains(name, "Loss")) && !contains(name, "input") &&
           !is_gradient(name);
  }
  return contains(name, collection) && collection.find('_') != std::string_view::npos;
}

}  // namespace

Status check_regexes(std::string_view comma_separated) {
  const std::vector<std::string> parts = parts_of(comma_separated);
  if (parts.size() > kMostParts) return Error{"more than 32 regular expressions"};
  for (const std::string& part : parts) {
    const re2::RE2 regex(part, re2::RE2::Quiet);
    if (!regex.ok()) return Error{"'" + part + "' is no regular expression: " + regex.error()};
  }
  return success();
}

Status check_collections(std::string_view comma_separated) {
  if (parts_of(comma_separated).size() > kMostParts) return Error{"more than 32 collections"};
  return success();
}

std::string_view reduced_tensor(std::string_view name, std::string_view reduction) {
  if (!name.starts_with(kReductions)) return {};
  name.remove_prefix(kReductions.size());
  if (!name.starts_with(reduction) || name.substr(reduction.size(), 1) != "/") return {};
  return name.substr(reduction.size() + 1);
}

TensorSelection::TensorSelection(std::string_view collections, std::string_view regexes)
    : collections_(parts_of(collections)) {
  for (const std::string& part : parts_of(regexes)) {
    regexes_.push_back(std::make_unique<re2::RE2>(part, re2::RE2::Quiet));
  }
}

TensorSelection::~TensorSelection() = default;

bool TensorSelection::has(const Tensor& tensor, const Interner& interner) const {
  const std::string_view name = interner.symbols.text(tensor.name);
  if (name.starts_with(kReductions)) return false;
  const auto is_wanted = [&](Symbol collection) {
    return std::ranges::find(collections_, interner.symbols.text(collection)) != collections_.end();
  };
  if (std::ranges::any_of(tensor.collections, is_wanted)) return true;
  const bool by_name =
      tensor.collections.empty() &&
      std::ranges::any_of(collections_, [&](const auto& one) { return is_usual_name(one, name); });
  return by_name || std::ranges::any_of(regexes_, [&](const auto& regex) {
           return re2::RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), *regex);
         });
}

bool TensorSelection::has_name(std::string_view name) const {
  return std::ranges::any_of(collections_,
                             [&](const auto& one) { return is_usual_name(one, name); }) ||
         std::ranges::any_of(regexes_, [&](const auto& regex) {
           return re2::RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), *regex);
         });
}

}  // namespace trainwatch
