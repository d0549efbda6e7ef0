// SPDX-License-Identifier: Apache-2.0
#include "commands/report/html_writer.h"

#include <vector>

namespace trainwatch {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr std::string_view kEllipsis = "\xE2\x80\xA6";

struct SecondByte {
  std::size_t length;  // of the character; 0: no character begins so
  unsigned low;
  unsigned high;
};

// What may follow the first byte of a character: no overlong forms, surrogates, or above U+10FFFF.
SecondByte after(unsigned first) {
  if (first >= 0xC2 && first <= 0xDF) return {2, 0x80, 0xBF};
  if (first >= 0xE0 && first <= 0xEF) {
    return {3, first == 0xE0 ? 0xA0U : 0x80U, first == 0xED ? 0x9FU : 0xBFU};
  }
  if (first >= 0xF0 && first <= 0xF4) {
    return {4, first == 0xF0 ? 0x90U : 0x80U, first == 0xF4 ? 0x8FU : 0xBFU};
  }
  return {0, 0, 0};
}

// Bytes of the character that `text` begins with; 0: it does not begin with one.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [text](std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  if (byte(0) < 0x80) return 1;
  const SecondByte second = after(byte(0));
  if (second.length == 0 || byte(1) < second.low || byte(1) > second.high) return 0;
  for (std::size_t i = 2; i < second.length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return 0;
  }
  return second.length;
}

}  // namespace

std::string repaired_utf8(std::string_view text) {
  std::string repaired;
  repaired.reserve(text.size());
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    repaired += bytes == 0 ? kReplacement : text.substr(0, bytes);
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return repaired;
}

std::string shortened(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return std::string(text);
  std::vector<std::size_t> begins;  // of the characters
  for (std::size_t at = 0; at < text.size();) {
    begins.push_back(at);
    const std::size_t bytes = character_bytes(text.substr(at));
    at += bytes == 0 ? 1 : bytes;
  }
  if (begins.size() <= limit) return std::string(text);
  const std::size_t head = limit * 2 / 3;
  const std::size_t tail = limit - head - 1;
  std::string out(text.substr(0, begins[head]));
  out += kEllipsis;
  return out.append(text.substr(begins[begins.size() - tail]));
}

namespace {

// Elements that begin a line, so that a person can read the source.
bool begins_line(std::string_view tag) {
  for (const std::string_view one : {"head", "body", "section", "article", "table", "tr", "svg",
                                     "path", "p", "h1", "h2", "h3", "meta", "style", "title"}) {
    if (tag == one) return true;
  }
  return false;
}

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7F;
}

}  // namespace

HtmlWriter& HtmlWriter::open(std::string_view tag, Attributes attributes) {
  begin(tag, attributes);
  out_ += '>';
  open_.push_back(tag);
  return *this;
}

HtmlWriter& HtmlWriter::close() {
  out_.append("</").append(open_.back()) += '>';
  open_.pop_back();
  return *this;
}

HtmlWriter& HtmlWriter::text(std::string_view text) {
  escape(text);
  return *this;
}

HtmlWriter& HtmlWriter::element(std::string_view tag, std::string_view content,
                                Attributes attributes) {
  return open(tag, attributes).text(content).close();
}

HtmlWriter& HtmlWriter::empty(std::string_view tag, Attributes attributes) {
  begin(tag, attributes);
  out_ += "/>";
  return *this;
}

HtmlWriter& HtmlWriter::style(std::string_view css) {
  open("style");
  out_ += css;
  return close();
}

HtmlWriter& HtmlWriter::script(std::string_view code) {
  open("script");
  out_ += code;
  return close();
}

HtmlWriter& HtmlWriter::json(std::string_view id, std::string_view json) {
  open("script", {{"type", "application/json"}, {"id", id}});
  for (const char c : json) c == '<' ? static_cast<void>(out_ += "\\u003c") : out_.push_back(c);
  return close();
}

void HtmlWriter::begin(std::string_view tag, Attributes attributes) {
  if (begins_line(tag)) out_ += '\n';
  out_.append("<").append(tag);
  for (const HtmlAttribute& attribute : attributes) {
    out_.append(" ").append(attribute.name).append("=\"");
    escape(attribute.value);
    out_ += '"';
  }
}

void HtmlWriter::escape(std::string_view text) {
  for (const char c : repaired_utf8(text)) {
    switch (c) {
      case '&':
        out_ += "&amp;";
        break;
      case '<':
        out_ += "&lt;";
        break;
      case '>':
        out_ += "&gt;";
        break;
      case '"':
        out_ += "&quot;";
        break;
      case '\'':
        out_ += "&#39;";
        break;
      default:
        if (is_control(c)) {
          out_ += "\xEF\xBF\xBD";
        } else {
          out_ += c;
        }
    }
  }
}

}  // namespace trainwatch
