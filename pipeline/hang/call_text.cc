// SPDX-License-Identifier: Apache-2.0
#include "pipeline/hang/call_text.h"

#include <charconv>

namespace trainwatch {

std::optional<Peer> peer_of(std::string_view name) {
  const bool sends = name.starts_with("send ");
  if (!sends && !name.starts_with("recv ")) return std::nullopt;
  const auto arrow = name.find(sends ? "->" : "<-");
  if (arrow == std::string_view::npos) return std::nullopt;
  const std::string_view digits = name.substr(arrow + 2);
  Peer found{sends, 0};
  const auto [end, failure] =
      std::from_chars(digits.data(), digits.data() + digits.size(), found.peer);
  if (failure != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return found;
}

std::string shapes_text(const std::vector<std::vector<std::int64_t>>& shapes) {
  constexpr std::size_t kMostShapes = 4;
  std::string text = "[";
  for (std::size_t i = 0; i < shapes.size() && i < kMostShapes; ++i) {
    text += i == 0 ? "[" : ", [";
    for (std::size_t k = 0; k < shapes[i].size() && k < kMostShapes; ++k) {
      text += (k == 0 ? "" : ", ") + std::to_string(shapes[i][k]);
    }
    text += "]";
  }
  return text + (shapes.size() > kMostShapes ? ", ...]" : "]");
}

}  // namespace trainwatch
