// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/declared/joined_lines.h"

#include <algorithm>
#include <utility>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/declared/scalar_text.h"
#include "pipeline/decode/scalar_tags.h"
#include "trainwatch/trimmed.h"

namespace trainwatch {
namespace {

bool is_rule(std::string_view line) {
  constexpr std::size_t kShortest = 10;
  return line.size() >= kShortest && line.find_first_not_of('-') == std::string_view::npos;
}

// "# step loss"
std::string_view without_hash(std::string_view line) {
  return line.starts_with('#') ? line.substr(1) : line;
}

// "2026-09-21T10:00:00.5Z stdout P text"
struct ContainerLine {
  std::string_view stream;  // with what is before it; empty: the line has no such form
  std::string_view text;
  bool is_cut = false;
};

ContainerLine container_line(std::string_view line) {
  for (const std::string_view stream : {" stdout ", " stderr "}) {
    const std::size_t at = line.find(' ');
    if (at == std::string_view::npos || !line.substr(at).starts_with(stream)) continue;
    const std::size_t flag = at + stream.size();
    const std::string_view rest = line.substr(flag);
    if (!rest.starts_with("P ") && !rest.starts_with("F ")) continue;
    return {line.substr(0, flag), rest.substr(2), rest.front() == 'P'};
  }
  return {};
}

// Between bars, tabs, or blanks.
std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells;
  line = trimmed(line, " \t\r|");
  const bool bars = line.find('|') != std::string_view::npos;
  const std::string_view ends = bars ? "|" : line.find('\t') < line.size() ? "\t" : " ";
  while (!line.empty() && cells.size() <= JoinedLines::kMostColumns) {
    const std::size_t end = std::min(line.find(ends), line.size());
    cells.emplace_back(trimmed(line.substr(0, end)));
    line.remove_prefix(end);
    line.remove_prefix(std::min(line.find_first_not_of(ends), line.size()));
  }
  return cells;
}

// Nearly all other lines have one of these.
constexpr std::string_view kNotInHeader = "0123456789:=[]{}%";

// Names only: what counts first, and a loss.
bool is_header(const std::vector<std::string>& cells) {
  if (cells.size() < 2 || cells.size() > JoinedLines::kMostColumns) return false;
  const bool names = std::ranges::all_of(
      cells, [](const std::string& cell) { return !cell.empty() && cell.size() < 40; });
  return names && counter_of_name(cells[0]) != CounterKind::none &&
         std::ranges::any_of(cells, [](const std::string& cell) {
           const ScalarKind kind = meaning_of_tag(cell, {}).kind;
           return kind == ScalarKind::loss || kind == ScalarKind::validation_loss;
         });
}

std::string_view name_of(std::string_view stream) {
  return stream.substr(stream.find(' '));
}

}  // namespace

JoinedLines::Part JoinedLines::take(std::string_view line) {
  switch (kind_) {
    case Kind::rule:
    case Kind::table:
      return take_row(trimmed(line));
    case Kind::columns:
      return take_cells(line);
    case Kind::dictionary:
      return take_member(trimmed(line));
    case Kind::cut_line:
      return take_rest(line);
    default:
      return open(line);
  }
}

JoinedLines::Part JoinedLines::open(std::string_view line) {
  text_.clear();
  heading_.clear();
  if (is_rule(trimmed(line))) {
    kind_ = Kind::rule;
    return Part::none;
  }
  if (line.find_first_of(kNotInHeader) == std::string_view::npos && opens_columns(line)) {
    return Part::none;
  }
  const ContainerLine part = container_line(line);
  if (part.is_cut) {
    kind_ = Kind::cut_line;
    text_.append(part.stream).append("F ");
    return add(part.text);
  }
  const bool opens =
      find_text(line, "{'") != std::string_view::npos && line.find('}') == std::string_view::npos;
  if (!opens || !trimmed(line).ends_with(',')) return Part::none;
  kind_ = Kind::dictionary;
  return add(line);
}

bool JoinedLines::opens_columns(std::string_view line) {
  std::vector<std::string> cells = cells_of(without_hash(line));
  if (!is_header(cells)) return false;
  columns_ = std::move(cells);
  kind_ = Kind::columns;
  strange_ = 0;
  return true;
}

// "|    ep_len_mean    | 22.2 |", or "| rollout/ | |" before those that it is the heading of.
JoinedLines::Part JoinedLines::take_row(std::string_view line) {
  if (kind_ == Kind::table && is_rule(line)) return close(Part::whole);
  const std::size_t middle = line.find('|', 1);
  if (!line.starts_with('|') || middle == std::string_view::npos) {
    close(Part::none);
    return open(line);
  }
  kind_ = Kind::table;
  const std::string_view left = line.substr(1, middle - 1);
  const std::string_view name = trimmed(left);
  const std::string_view rest = line.substr(middle + 1);
  const std::string_view value = trimmed(rest.substr(0, rest.find('|')));
  if (value.empty()) {
    heading_ = name.ends_with('/') ? name : std::string_view{};
    return heading_.size() > kLongest ? close(Part::none) : Part::more;
  }
  const bool belongs = left.starts_with("    ");
  return add((belongs ? heading_ : "") + std::string(name) + ": " + std::string(value) + ", ");
}

// "| 1 | 2.99 | 3.1 |", as many as names; a bar of tqdm may come between the rows.
JoinedLines::Part JoinedLines::take_cells(std::string_view line) {
  constexpr std::uint32_t kMostStrange = 64;
  const std::vector<std::string> cells = cells_of(line);
  const bool row = cells.size() == columns_.size() && parse_digits(cells[0]).has_value() &&
                   begins_with_scalar(cells[1]);
  if (!row) {
    if (++strange_ > kMostStrange) close(Part::none);
    // The rows may be underlined; anything else may begin another record.
    return is_rule(trimmed(line)) ? Part::none : open(line);
  }
  strange_ = 0;
  text_.clear();
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (text_.size() + columns_[i].size() + cells[i].size() > kLongest) return Part::none;
    text_.append(columns_[i]).append(": ").append(cells[i]).append(", ");
  }
  return Part::whole;
}

JoinedLines::Part JoinedLines::take_member(std::string_view line) {
  if (!line.starts_with('\'') && !line.starts_with('"')) {
    close(Part::none);
    return open(line);
  }
  const bool last = line.ends_with('}');
  if (add(" ") == Part::none || add(line) == Part::none) return Part::none;
  return last ? close(Part::whole) : Part::more;
}

// The other stream may write in between.
JoinedLines::Part JoinedLines::take_rest(std::string_view line) {
  const ContainerLine part = container_line(line);
  const std::string_view stream = name_of(std::string_view(text_).substr(0, text_.find(" F ") + 1));
  if (part.stream.empty() || name_of(part.stream) != stream) return Part::none;
  if (add(part.text) == Part::none) return Part::none;
  return part.is_cut ? Part::more : close(Part::whole);
}

JoinedLines::Part JoinedLines::add(std::string_view part) {
  if (text_.size() + part.size() > kLongest) return close(Part::none);
  text_.append(part);
  return Part::more;
}

JoinedLines::Part JoinedLines::close(Part part) {
  kind_ = Kind::none;
  return part;
}

void JoinedLines::state(StateIo& io) {
  io(kind_);
  io(text_);
  io(heading_);
  io(columns_);
  io(strange_);
  if (columns_.size() > kMostColumns) io.fail();
  if (kind_ >= Kind::count_ || text_.size() > kLongest || heading_.size() > kLongest) io.fail();
}

}  // namespace trainwatch
