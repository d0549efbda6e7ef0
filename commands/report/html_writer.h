// SPDX-License-Identifier: Apache-2.0
// Writes HTML, and the SVG inside it, into a string. Everything that is handed over as text or as
// the value of an attribute is escaped, so that no file can put markup into a page; tags and names
// of attributes are the program's own words.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace trainwatch {

// UTF-8; each byte that is no part of it becomes U+FFFD.
std::string repaired_utf8(std::string_view text);

// The beginning and the end of longer text, with an ellipsis between; at most `limit` characters of
// UTF-8, and never a part of one.
std::string shortened(std::string_view text, std::size_t limit);

struct HtmlAttribute {
  std::string_view name;
  std::string_view value;
};

class HtmlWriter {
 public:
  using Attributes = std::initializer_list<HtmlAttribute>;

  HtmlWriter& open(std::string_view tag, Attributes attributes = {});
  // Ends the element that was opened last.
  HtmlWriter& close();
  // Control characters and bytes that are no UTF-8 become U+FFFD.
  HtmlWriter& text(std::string_view text);
  // An element with nothing but text inside.
  HtmlWriter& element(std::string_view tag, std::string_view content, Attributes attributes = {});
  // An element that has no end tag, as <meta/> or <path/>.
  HtmlWriter& empty(std::string_view tag, Attributes attributes = {});
  // A style sheet or a script of the program's own, as it stands.
  HtmlWriter& style(std::string_view css);
  HtmlWriter& script(std::string_view code);
  // JSON for a script to find by this id. Whatever is in it, it cannot end the element.
  HtmlWriter& json(std::string_view id, std::string_view json);

  std::size_t size() const { return out_.size(); }
  std::string take() { return std::move(out_); }

 private:
  void begin(std::string_view tag, Attributes attributes);
  void escape(std::string_view text);

  std::string out_ = "<!doctype html>\n";
  std::vector<std::string_view> open_;
};

}  // namespace trainwatch
