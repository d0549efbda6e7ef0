// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/kineto/parallelism.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>

namespace trainwatch {
namespace {

constexpr std::array<std::string_view, 7> kOfData = {"data",      "dp",    "ddp", "fsdp",
                                                     "replicate", "shard", "hsdp"};
constexpr std::array<std::string_view, 14> kOfLayers = {
    "tensor", "tp", "model", "context",  "cp", "expert",   "ep",
    "moe",    "pp", "pipe",  "pipeline", "sp", "sequence", "ulysses"};

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}
bool is_same(std::string_view text, std::string_view word) {
  return std::ranges::equal(text, word,
                            [](unsigned char a, char b) { return std::tolower(a) == b; });
}

// Whether one of the words of the text is in the list.
template <std::size_t N>
bool names_one(std::string_view text, const std::array<std::string_view, N>& words) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    const std::string_view word = text.substr(at, end - at);
    if (std::ranges::any_of(words, [&](std::string_view one) { return is_same(word, one); })) {
      return true;
    }
    at = end + 1;
  }
  return false;
}

}  // namespace

bool is_within_layers(std::string_view kernel, std::string_view group,
                      std::string_view description) {
  if (kernel.find("SendRecv") != std::string_view::npos) return true;
  if (names_one(description, kOfData) || names_one(group, kOfData)) return false;
  return names_one(description, kOfLayers) || names_one(group, kOfLayers);
}

}  // namespace trainwatch
