// SPDX-License-Identifier: Apache-2.0
#include "commands/report/table_writer.h"

#include "commands/report/format.h"
#include "commands/report/html_writer.h"

namespace trainwatch {
namespace {

constexpr std::size_t kCellShown = 80;
constexpr std::size_t kNameInFull = 200;
constexpr std::size_t kOnOneLine = 24;  // bytes

}  // namespace

TableWriter::TableWriter(HtmlWriter& html, std::string_view id, std::string_view caption,
                         std::span<const Column> columns)
    : html_(html) {
  html_.open("div", {{"class", "wide"}}).open("table", {{"id", id}});
  if (!caption.empty()) html_.element("caption", caption);
  html_.open("thead").open("tr");
  for (const Column& column : columns) {
    html_.element("th", column.title,
                  {{"scope", "col"}, {"class", column.number ? "number" : "text"}});
  }
  html_.close().close().open("tbody");
}

void TableWriter::name(std::string_view text) {
  html_.open("td");
  write_name(html_, text, kCellShown);
  html_.close();
}

void TableWriter::number(double value, std::string_view shown) {
  html_.open("td", {{"class", "number"}});
  write_figure(html_, value, shown);
  html_.close();
}

void TableWriter::number(const std::optional<double>& value, std::string (*show)(double)) {
  if (value) {
    number(*value, show(*value));
  } else {
    html_.element("td", "\xE2\x80\x93", {{"class", "number"}});
  }
}

void TableWriter::end() {
  html_.close().close().close();
}

void write_figure(HtmlWriter& html, double value, std::string_view shown) {
  html.element("data", shown, {{"value", report_format::exact(value)}});
}

void write_name(HtmlWriter& html, std::string_view text, std::size_t limit) {
  const std::string shown = shortened(text, limit);
  if (shown != text) {
    html.element("span", shown, {{"class", "name"}, {"title", shortened(text, kNameInFull)}});
  } else {
    html.element("span", text, {{"class", text.size() <= kOnOneLine ? "name short" : "name"}});
  }
}

}  // namespace trainwatch
