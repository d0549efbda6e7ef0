// SPDX-License-Identifier: Apache-2.0
// The page of metrics: whatever a label is, reading the page gives it back. Help texts are our own.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/net/metrics_page.h"
#include "fuzz/fuzz_target.h"

namespace trainwatch::fuzz {
namespace {

// The quoted text at the start of `rest`, unescaped; `rest` moves behind it.
std::optional<std::string> take_quoted(std::string_view& rest) {
  if (!rest.starts_with('"')) return std::nullopt;
  std::string out;
  for (std::size_t i = 1; i < rest.size(); ++i) {
    if (rest[i] == '\n') return std::nullopt;
    if (rest[i] == '"') {
      rest.remove_prefix(i + 1);
      return out;
    }
    if (rest[i] == '\\') {
      if (++i == rest.size() || std::string_view("\\\"n").find(rest[i]) == std::string_view::npos) {
        return std::nullopt;
      }
      out += rest[i] == 'n' ? '\n' : rest[i];
      continue;
    }
    out += rest[i];
  }
  return std::nullopt;
}

std::vector<std::string> labels_of_page(std::string_view page) {
  std::vector<std::string> found;
  while (!page.empty()) {
    if (page.starts_with("some_value{label=")) {
      page.remove_prefix(page.find('=') + 1);
      const auto text = take_quoted(page);
      expect(text.has_value(), "a label is quoted");
      expect(page.starts_with("} 1\n"), "a value follows the labels");
      found.push_back(*text);
    }
    const auto end = page.find('\n');
    expect(end != std::string_view::npos, "every line ends");
    page.remove_prefix(end + 1);
  }
  return found;
}

}  // namespace

void render_metrics(std::string_view input) {
  MetricFamily family{"some_value", "A value.", MetricType::gauge, {}, {}};
  std::vector<std::string> labels;
  while (!input.empty()) {
    const auto label = input.substr(0, input.find('|'));
    input.remove_prefix(std::min(input.size(), label.size() + 1));
    labels.emplace_back(label);
    family.points.push_back({{{"label", labels.back()}}, 1, {}, 0});
  }
  const std::vector<MetricFamily> families = {family};
  for (const auto format : {MetricsFormat::prometheus_text, MetricsFormat::open_metrics}) {
    expect(labels_of_page(render(format, families)) == labels, "the page says what was counted");
  }
}

}  // namespace trainwatch::fuzz
