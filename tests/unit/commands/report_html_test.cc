// SPDX-License-Identifier: Apache-2.0
// Whatever bytes a file has: the page stays well-formed, and shows them as text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "commands/report/html_writer.h"
#include "commands/report/table_writer.h"

namespace trainwatch::report_html_test {

using testing::HasSubstr;
using testing::Not;

const std::string kReplacement = "\xEF\xBF\xBD";

std::string shown(std::string_view text) {
  HtmlWriter html;
  html.element("td", text);
  return html.take();
}

TEST(HtmlWriter, TextCannotBecomeMarkup) {
  EXPECT_THAT(shown("<script>alert(1)</script>"),
              HasSubstr("<td>&lt;script&gt;alert(1)&lt;/script&gt;</td>"));
  EXPECT_THAT(shown("a & \"b\" 'c'"), HasSubstr("a &amp; &quot;b&quot; &#39;c&#39;"));
  EXPECT_THAT(shown("&lt;"), HasSubstr("&amp;lt;"));
}

TEST(HtmlWriter, AnAttributeCannotEndEarly) {
  HtmlWriter html;
  html.open("p", {{"title", "\" onload=\"alert(1)"}}).close();
  EXPECT_THAT(html.take(), HasSubstr("<p title=\"&quot; onload=&quot;alert(1)\"></p>"));
}

TEST(HtmlWriter, ControlCharactersAreReplaced) {
  EXPECT_THAT(shown(std::string("a\0b\x1B[31m\x7F", 9)),
              HasSubstr("a" + kReplacement + "b" + kReplacement + "[31m" + kReplacement));
  EXPECT_THAT(shown("a\tb\nc"), HasSubstr("a\tb\nc"));
}

TEST(HtmlWriter, ElementsCloseInOrder) {
  HtmlWriter html;
  html.open("div").open("b").text("x").close().empty("path", {{"d", "M0 0"}}).close();
  EXPECT_EQ(html.take(), "<!doctype html>\n<div><b>x</b>\n<path d=\"M0 0\"/></div>");
}

TEST(Sanitise, BytesThatAreNoUtf8AreReplacedOneByOne) {
  EXPECT_EQ(repaired_utf8("gr\xC3\xBC\xC3\x9F"), "gr\xC3\xBC\xC3\x9F");
  EXPECT_EQ(repaired_utf8("a\xFF\xC3"), "a" + kReplacement + kReplacement);
  EXPECT_EQ(repaired_utf8("\xC0\xAF"), kReplacement + kReplacement);  // an overlong "/"
  EXPECT_EQ(repaired_utf8("\xED\xA0\x80"), kReplacement + kReplacement + kReplacement);
  EXPECT_EQ(repaired_utf8("\xF0\x9F\x98\x80"), "\xF0\x9F\x98\x80");
  EXPECT_EQ(repaired_utf8("\xF4\x90\x80\x80").size(), 4 * kReplacement.size());
}

TEST(Sanitise, LongTextKeepsBothEnds) {
  EXPECT_EQ(shortened("short", 10), "short");
  EXPECT_EQ(shortened("0123456789abcdef", 10),
            "012345\xE2\x80\xA6"
            "def");
  std::string umlauts;
  for (int i = 0; i < 100; ++i) umlauts += "\xC3\xA4";
  const std::string cut = shortened(umlauts, 10);
  EXPECT_EQ(cut, repaired_utf8(cut));
  EXPECT_EQ(cut.size(), 9 * 2 + 3U);
  EXPECT_EQ(shortened(umlauts, 100), umlauts);
}

TEST(TableWriter, ALongNameIsCutAndStandsInTheTitle) {
  HtmlWriter html;
  TableWriter table(html, "t", "", {{"name"}, {"number", true}});
  table.begin_row();
  table.name(std::string(100000, 'x') + "<end>");
  table.number(0.1, "0.1");
  table.end_row();
  table.end();
  const std::string page = html.take();
  EXPECT_LT(page.size(), 1500U);
  EXPECT_THAT(page, HasSubstr("&lt;end&gt;</span>"));
  EXPECT_THAT(page, HasSubstr("<data value=\"0.1\">0.1</data>"));
  EXPECT_THAT(page, Not(HasSubstr("<end>")));
}

}  // namespace trainwatch::report_html_test
