#include "daemon/report/html_writer.h"

#include "daemon/report/shown_text.h"

namespace trainwatch {
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
