// SPDX-License-Identifier: Apache-2.0
#include "rules/span_options.h"

#include <string>

namespace trainwatch::cases {
namespace {

bool read_mode(std::string_view text, Mode& out) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(Mode::count_); ++i) {
    if (text == to_string(static_cast<Mode>(i))) out = static_cast<Mode>(i);
  }
  return text == to_string(out);
}

bool read_origin(std::string_view text, Origin& out) {
  if (text == "profiler") out = Origin::profiler;
  return text == "profiler" || text == "timeline";
}

bool read_yes_no(std::string_view text, bool& out) {
  out = text == "yes";
  return out || text == "no";
}

bool read_option(std::string_view key, std::string_view text, SpanOptions& out) {
  if (key == "wait") return read(text, out.wait);
  if (key == "before") return read(text, out.before);
  if (key == "process") return read(text, out.process);
  if (key == "jitter") return read(text, out.jitter);
  if (key == "growth") return read(text, out.growth);
  if (key == "spike") return read(text, out.spike);
  if (key == "every") return read(text, out.every);
  if (key == "from") return read(text, out.from);
  if (key == "worker") return read(text, out.worker);
  if (key == "step") return read(text, out.step);
  if (key == "numbers") return read_yes_no(text, out.numbers);
  if (key == "mode") return read_mode(text, out.mode);
  if (key == "origin") return read_origin(text, out.origin);
  if (key == "name") out.name = text;
  return key == "name";
}

}  // namespace

Result<SpanOptions> read_span_options(const Words& words) {
  SpanOptions options;
  for (std::size_t i = 3; i < words.size(); i += 2) {
    const std::string_view text = i + 1 < words.size() ? words[i + 1] : "";
    if (text.empty() || !read_option(words[i], text, options)) {
      return Error{"cannot read '" + std::string(words[i]) + " " + std::string(text) + "'"};
    }
  }
  return options;
}

}  // namespace trainwatch::cases
