// SPDX-License-Identifier: Apache-2.0
#include "pipeline/hang/call_mismatch.h"

#include <algorithm>
#include <functional>
#include <string_view>

namespace trainwatch {
namespace {

using Calls = std::map<std::int32_t, const FlightOperation*>;
using Shapes = std::vector<std::vector<std::int64_t>>;

// As a double: products of what a damaged file says must not overflow.
double elements(const Shapes& shapes) {
  double sum = 0;
  for (const auto& shape : shapes) {
    double product = 1;
    for (const std::int64_t size : shape) product *= static_cast<double>(size);
    sum += product;
  }
  return sum;
}

enum class Pattern : std::uint8_t {
  uniform,         // all ranks pass the same number of elements
  all_gather,      // and get it from each
  reduce_scatter,  // and get a part of it
  all_to_all,      // each pair has its own size
  gather,          // one rank receives
  scatter,         // one rank sends
  unchecked,
};

Pattern pattern_of(std::string_view name) {
  const auto has = [name](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  };
  if (has("coalesced")) return Pattern::unchecked;
  if (has("all_to_all") || has("alltoall")) return Pattern::all_to_all;
  if (has("all_gather") || has("allgather")) return Pattern::all_gather;
  if (has("reduce_scatter")) return Pattern::reduce_scatter;
  if (has("gather")) return Pattern::gather;
  if (has("scatter")) return Pattern::scatter;
  return Pattern::uniform;
}

std::string sizes_of(const FlightOperation& call) {
  const std::string inputs = std::to_string(elements(call.inputs));
  const std::string outputs = std::to_string(elements(call.outputs));
  switch (pattern_of(call.name)) {
    case Pattern::all_to_all:
    case Pattern::unchecked:
      return {};
    case Pattern::gather:
      return inputs;
    case Pattern::scatter:
      return outputs;
    default:
      return inputs + " " + outputs;
  }
}

std::string types_of(const FlightOperation& call) {
  const auto& types = call.input_types.empty() ? call.output_types : call.input_types;
  std::string text;
  for (const std::string& type : types) text += type + " ";
  return text;
}

// A call that cannot be right whatever the others do.
bool contradicts_itself(const FlightOperation& call, std::size_t members) {
  if (call.inputs.empty() || call.outputs.empty()) return false;
  const double in = elements(call.inputs);
  const double out = elements(call.outputs);
  const auto n = static_cast<double>(members);
  const Pattern pattern = pattern_of(call.name);
  if (pattern == Pattern::all_gather) return out != in * n;
  if (pattern == Pattern::reduce_scatter) return in != out * n;
  return false;
}

CallMismatch compare(const Calls& calls, std::size_t members, const std::string& difference,
                     const std::function<std::string(const FlightOperation&)>& aspect) {
  std::map<std::string, std::set<std::int32_t>> alike;
  for (const auto& [rank, call] : calls) alike[aspect(*call)].insert(rank);
  if (alike.size() < 2) return {};
  const auto most =
      std::ranges::max_element(alike, {}, [](const auto& group) { return group.second.size(); });
  const std::size_t others = calls.size() - most->second.size();
  const std::string usual = calls.at(*most->second.begin())->name;
  CallMismatch found{{}, difference, usual};
  const bool one_alone = others == 1 && 2 * most->second.size() > members;
  if (!one_alone && calls.size() < members) return {};
  for (const auto& [rank, call] : calls) {
    if (!one_alone || !most->second.contains(rank)) found.ranks.insert(rank);
  }
  return found;
}

CallMismatch check_sums(const Calls& calls, std::size_t members) {
  CallMismatch found{{}, "sizes", calls.begin()->second->name};
  for (const auto& [rank, call] : calls) {
    if (contradicts_itself(*call, members)) found.ranks.insert(rank);
  }
  if (!found.ranks.empty()) return found;
  if (calls.size() < members || pattern_of(found.usual) != Pattern::all_to_all) return {};
  double in = 0;
  double out = 0;
  for (const auto& [rank, call] : calls) {
    if (call->inputs.empty() || call->outputs.empty()) return {};
    in += elements(call->inputs);
    out += elements(call->outputs);
    found.ranks.insert(rank);
  }
  return in == out ? CallMismatch{} : found;
}

}  // namespace

CallMismatch find_mismatch(const std::map<std::int32_t, const FlightOperation*>& calls,
                           std::size_t members) {
  if (calls.empty()) return {};
  CallMismatch found =
      compare(calls, members, "operation", [](const FlightOperation& call) { return call.name; });
  if (found.difference.empty()) found = check_sums(calls, members);
  if (found.difference.empty()) found = compare(calls, members, "sizes", sizes_of);
  if (found.difference.empty()) found = compare(calls, members, "types", types_of);
  return found;
}

}  // namespace trainwatch
