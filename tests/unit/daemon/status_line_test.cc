// SPDX-License-Identifier: Apache-2.0
#include "daemon/terminal/status_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/terminal/columns.h"
#include "daemon/terminal/sparkline.h"
#include "support/fake_terminal.h"

namespace trainwatch::status_line_test {

using std::chrono::milliseconds;
using testing::ElementsAre;

const StatusLine::Clock::time_point kStart{std::chrono::hours(1)};

TEST(StatusLine, StaysBelowWhatIsPrinted) {
  FakeTerminal terminal(40);
  StatusLine line(terminal.style());
  terminal.write(line.lines("before\n"));
  terminal.write(line.show("state 1", kStart));
  EXPECT_THAT(terminal.lines(), ElementsAre("before", "state 1"));
  terminal.write(line.lines("one\ntwo\n"));
  EXPECT_THAT(terminal.lines(), ElementsAre("before", "one", "two", "state 1"));
  terminal.write(line.show("state 2", kStart + milliseconds(250)));
  terminal.write(line.erase());
  terminal.write("of another stream\n");
  terminal.write(line.redraw());
  EXPECT_THAT(terminal.lines(),
              ElementsAre("before", "one", "two", "of another stream", "state 2"));
  terminal.write(line.clear());
  terminal.write(line.lines("after\n"));
  EXPECT_THAT(terminal.lines(),
              ElementsAre("before", "one", "two", "of another stream", "after", ""));
}

TEST(StatusLine, IsRewrittenFourTimesASecondAtMost) {
  FakeTerminal terminal;
  StatusLine line(terminal.style());
  int written = 0;
  for (int i = 0; i < 1000; ++i) {  // a second
    const std::string bytes = line.show("state " + std::to_string(i), kStart + milliseconds(i));
    terminal.write(bytes);
    if (!bytes.empty()) ++written;
  }
  EXPECT_EQ(written, 4);
  terminal.write(line.lines("text\n"));
  EXPECT_THAT(terminal.lines(), ElementsAre("text", "state 999")) << "the newest";
  EXPECT_EQ(line.show("state 999", kStart + milliseconds(2000)), "") << "the same";
}

TEST(StatusLine, IsCutToTheWidthAndFollowsIt) {
  FakeTerminal terminal(12);
  StatusLine line(terminal.style());
  terminal.write(line.show("a line that is too long", kStart));
  EXPECT_THAT(terminal.lines(), ElementsAre("a line tha…"));
  line.set_width(8);
  terminal.write(line.show("another one", kStart + milliseconds(300)));
  EXPECT_THAT(terminal.lines(), ElementsAre("anothe…"));
}

TEST(StatusLine, WithoutATerminalThatRewritesThereIsNone) {
  TextStyle dumb;
  dumb.terminal = true;
  StatusLine line(dumb);
  EXPECT_FALSE(line.is_possible());
  EXPECT_EQ(line.show("state", kStart), "");
  EXPECT_EQ(line.lines("text\n"), "text\n");
  EXPECT_EQ(line.clear(), "");
}

TEST(Columns, AreThoseOfCharacters) {
  EXPECT_EQ(columns("abc"), 3U);
  EXPECT_EQ(columns("▁█…–é"), 5U);
  EXPECT_EQ(columns("数据"), 4U);
  EXPECT_EQ(cut_to_columns("数据数据", 5), "数据…");
  EXPECT_EQ(cut_to_columns("abc", 3), "abc");
}

TEST(Columns, TextIsWrappedAtSpaces) {
  std::string text;
  append_wrapped(text, "one two  three\nfour", 2, 10);
  EXPECT_EQ(text, "  one two\n  three\n  four\n");
  text.clear();
  append_wrapped(text, "averylongwordthatdoesnotfit x", 0, 10);
  EXPECT_EQ(text, "averylongwordthatdoesnotfit\nx\n");
}

TEST(Sparkline, ShowsWhatIsLongerThanTheOthers) {
  Sparkline row;
  EXPECT_EQ(row.text(), "");
  for (int i = 0; i < 5; ++i) row.add(0.2);
  EXPECT_EQ(row.text(), "▄▄▄▄▄");
  row.add(0.8);
  row.add(0.4);
  EXPECT_EQ(row.text(), "▂▂▂▂▂█▄");
  row.add(-1);
  row.add(0.0 / 0.0);
  EXPECT_EQ(columns(row.text()), 7U);
  for (int i = 0; i < 100; ++i) row.add(0.2);
  EXPECT_EQ(columns(row.text()), Sparkline::kColumns);
}

}  // namespace trainwatch::status_line_test
