// SPDX-License-Identifier: Apache-2.0
// Files of rows behind a header that a declaration knows (declared/file_presets): each number of a
// row is a scalar, at the step that another column says.
//
//  * Where no declaration knows the header, the names of its columns decide (guessed_format).
//  * A row that has a header's form begins a new section, as a writer that was started again makes.
//  * A row counts when it has ended: the last one may be torn.
//  * A writer may write the file anew with more columns. What was emitted before is not emitted
//    again (declared/delivered_values).
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/declared/declared_formats.h"
#include "pipeline/decode/declared/delivered_values.h"
#include "pipeline/decode/declared/guessed_format.h"
#include "pipeline/decode/declared/record_emitter.h"
#include "pipeline/decode/format.h"
#include "pipeline/decode/line_splitter.h"
#include "pipeline/decode/scalar_tags.h"
#include "trainwatch/star_pattern.h"
#include "trainwatch/trimmed.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMostColumns = 256;
constexpr std::size_t kLongestHeader = 16384;
constexpr std::string_view kIndex = "index";  // stands for the name that the first column lacks

// The cells of a row, without blanks around them and without quotes; of those behind kMostColumns
// nothing. Quotes inside of a cell stay as they are: no number has any.
void split_row(std::string_view row, char separator, std::vector<std::string_view>& cells) {
  cells.clear();
  while (cells.size() <= kMostColumns) {
    const std::size_t begin = std::min(row.find_first_not_of(' '), row.size());
    std::size_t from = begin;
    if (begin < row.size() && row[begin] == '"') from = row.find('"', begin + 1);
    const std::size_t end = row.find(separator, std::min(from, row.size()));
    std::string_view cell = trimmed(row.substr(0, end));
    if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"') {
      cell = cell.substr(1, cell.size() - 2);
    }
    cells.push_back(cell);
    if (end == std::string_view::npos) return;
    row.remove_prefix(end + 1);
  }
}

char separator_of(std::string_view header) {
  if (header.find('\t') != std::string_view::npos) return '\t';
  const bool semicolons = header.find(',') == std::string_view::npos;
  return semicolons && header.find(';') != std::string_view::npos ? ';' : ',';
}

std::optional<double> number_of(std::string_view cell) {
  if (const auto number = parse_number(cell)) return number;
  constexpr std::string_view kWords[] = {"nan", "-nan", "NAN", "inf", "-inf", "Inf", "-Inf", "Nan"};
  const bool word = std::ranges::find(kWords, cell) != std::end(kWords);
  return word ? scalar_at(cell, ScalarKind::other) : std::nullopt;
}

// The first name may be missing: pandas writes its index without one.
bool is_header(const std::vector<std::string_view>& cells) {
  return cells.size() <= kMostColumns &&
         std::ranges::all_of(cells, [&cells](const std::string_view& cell) {
           const bool index = cell.empty() && &cell == cells.data() && cells.size() > 1;
           return index || (!cell.empty() && !number_of(cell));
         });
}

// Of those that know the header, the one that asks for most; null: none does.
const FormatDeclaration* knows_header(const DeclaredFormats& formats,
                                      const std::vector<std::string_view>& cells) {
  const FormatDeclaration* best = nullptr;
  for (const FormatDeclaration& format : formats.csv()) {
    if (best != nullptr && format.has.size() <= best->has.size()) continue;
    if (format.columns != 0 && cells.size() != format.columns) continue;
    const bool all = std::ranges::all_of(format.has, [&cells](const std::string& column) {
      return std::ranges::find(cells, column) != cells.end();
    });
    if (all) best = &format;
  }
  return best;
}

// What a column may be called, and a piece of a log line hardly is.
bool is_name(std::string_view cell) {
  constexpr std::size_t kLongestName = 64;
  constexpr std::ptrdiff_t kMostBlanks = 3;
  return cell.size() <= kLongestName &&
         cell.find_first_of("=:{}[]<>!?") == std::string_view::npos &&
         std::ranges::count(cell, ' ') <= kMostBlanks;
}

// One that knows the header, or else what its names say. nullopt: neither.
std::optional<FormatDeclaration> format_of(const DeclaredFormats& formats,
                                           std::vector<std::string_view> cells) {
  if (const FormatDeclaration* const known = knows_header(formats, cells)) return *known;
  if (cells.front().empty()) cells.front() = kIndex;
  if (cells.size() < 2 || !std::ranges::all_of(cells, is_name)) return std::nullopt;
  auto guessed = guess_format(DeclaredKind::csv, cells);
  const bool loss = std::ranges::any_of(cells, [](std::string_view cell) {
    return meaning_of_tag(cell, {}).kind == ScalarKind::loss;
  });
  if (!guessed && loss && cells.front() == kIndex) {
    guessed = guessed_format(DeclaredKind::csv, std::string(kIndex), {});
  }
  return guessed;
}

class CsvDecoder final : public Decoder {
 public:
  explicit CsvDecoder(const FileContext& context)
      : context_(context),
        formats_(DeclaredFormats::or_presets(context.declared)),
        emitter_(context) {}

  void feed(std::string_view bytes, EventBatch& out) override;
  void finish(EventBatch&) override { finished_ = true; }
  void cut_back(std::size_t bytes) override { lines_.cut_back(bytes); }
  bool complete() const override { return false; }
  bool mid_record() const override { return lines_.mid_line(); }
  void state(StateIo& io) override;
  std::size_t unsaved_bytes() const override {
    constexpr std::size_t kCopies = 4;  // of the names of columns
    return columns_.size() * sizeof(Column) + kCopies * header_.size();
  }
  std::uint64_t records() const override { return records_; }
  ByteAccount bytes() const override {
    ByteAccount all = account_;
    all.rejected += lines_.too_long();
    if (finished_) all.structure += lines_.rest().size();
    return all;
  }
  std::string_view declared() const override {
    return format_ ? std::string_view{format_->name} : std::string_view{};
  }
  std::string delivered() const override { return delivered_.known(); }
  void rewritten(const std::string& delivered) override { delivered_.begin_anew(delivered); }

 private:
  struct Column {
    std::string name;
    DeclaredField meaning;
    bool emits = false;
    bool other = false;         // no field names it: its own name says what it means
    Symbol tag = Symbol::none;  // none: not emitted yet
    OtherTag* time = nullptr;   // its name says only that it is a time
  };

  void row(std::string_view text, EventBatch& out);
  bool read_header(std::string_view text);
  void read_row(std::string_view text, EventBatch& out);
  Column column_of(std::string_view name) const;
  std::string_view cell_of(std::size_t column) const {
    return column < cells_.size() ? cells_[column] : std::string_view{};
  }
  std::optional<Time> time_of();

  const FileContext& context_;
  const DeclaredFormats& formats_;
  std::optional<FormatDeclaration> format_;  // nullopt: no header yet
  RecordEmitter emitter_;
  RecordSteps steps_;
  DeliveredValues delivered_;
  LineSplitter lines_;
  std::string header_;  // of the current section
  char separator_ = ',';
  std::vector<Column> columns_;
  std::size_t step_ = kMostColumns;  // which column; kMostColumns: none
  bool of_epochs_ = false;
  std::size_t time_ = kMostColumns;
  std::size_t rank_ = kMostColumns;
  std::vector<std::string_view> cells_;  // reused
  std::uint64_t records_ = 0;
  ByteAccount account_;
  LocalClock clock_;
  bool finished_ = false;
};

void CsvDecoder::feed(std::string_view bytes, EventBatch& out) {
  finished_ = false;
  lines_.feed(
      bytes, [&](std::string_view text) { row(text, out); },
      [&](std::string_view beginning) {
        context_.diagnostics.reject(context_.file, RejectReason::too_long, beginning);
      });
}

void CsvDecoder::row(std::string_view text, EventBatch& out) {
  const std::size_t bytes = text.size() + 1;
  if (header_.empty() && text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  if (trimmed(text).empty()) {
    account_.structure += bytes;
    return;
  }
  split_row(text, header_.empty() ? separator_of(text) : separator_, cells_);
  if (is_header(cells_) && read_header(text)) {
    account_.structure += bytes;
  } else if (!format_ || cells_.size() != columns_.size()) {
    account_.rejected += bytes;
    context_.diagnostics.reject(context_.file, RejectReason::syntax, text);
  } else {
    read_row(text, out);
    account_.records += bytes;
  }
}

// False: no declaration knows it.
bool CsvDecoder::read_header(std::string_view text) {
  if (text.size() > kLongestHeader) return false;
  auto known = format_of(formats_, cells_);
  if (!known) return false;
  format_ = std::move(known);
  header_ = text;
  separator_ = separator_of(text);
  columns_.clear();
  if (cells_.front().empty()) cells_.front() = kIndex;
  for (const std::string_view cell : cells_) columns_.push_back(column_of(cell));
  const auto find = [this](const std::string& name) {
    const auto at = std::ranges::find(columns_, name, &Column::name);
    return at == columns_.end() || name.empty() ? kMostColumns
                                                : static_cast<std::size_t>(at - columns_.begin());
  };
  step_ = find(format_->step);
  of_epochs_ = counter_of_name(format_->step) == CounterKind::epochs;
  time_ = find(format_->time);
  rank_ = find(format_->rank);
  return true;
}

CsvDecoder::Column CsvDecoder::column_of(std::string_view name) const {
  Column column;
  column.name = name;
  const auto& fields = format_->fields;
  const auto field = std::ranges::find_if(
      fields, [name](const DeclaredField& each) { return matches_star(each.key, name); });
  // What is called a time may be one since the beginning.
  const bool clock = name == format_->time && !format_->guessed;
  const bool counts = name == format_->step || clock || name == format_->rank;
  if (field != fields.end()) {
    column.meaning = *field;
    column.emits = true;
  } else {
    column.emits = column.other = format_->others && !counts;
  }
  return column;
}

void CsvDecoder::read_row(std::string_view text, EventBatch& out) {
  ++records_;
  DeclaredRecord about;
  const auto whole = [this](std::size_t column) {
    const auto number = parse_number(cell_of(column));
    constexpr double kExact = 9007199254740992.0;
    return number && *number >= 0 && *number < kExact ? static_cast<std::int64_t>(*number)
                                                      : kNoStep;
  };
  about.step = whole(step_);
  about.rank = small_integer(cell_of(rank_)).value_or(kNoRank);
  about.at = time_of();
  about.guessed = format_->guessed;
  about.of_epoch = of_epochs_;
  bool begun = false;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    Column& column = columns_[i];
    if (!column.emits || (i == time_ && about.at)) continue;
    const auto value = number_of(cells_[i]);
    if (!value || !delivered_.is_new(column.name, about.step, cells_[i])) continue;
    if (!begun && !emitter_.begin(about, text, steps_)) return;
    begun = true;
    if (column.tag == Symbol::none) {
      const std::string& tag = column.meaning.tag.empty() ? column.name : column.meaning.tag;
      OtherTag* const other = emitter_.other_tag(tag, &*format_);
      column.emits = other != nullptr;
      if (other == nullptr) continue;
      column.tag = other->symbol;
      if (column.other) column.meaning = other->meaning;
      if (column.other && other->time) column.time = other;
    }
    if (column.time != nullptr) {
      emitter_.emit_other(*column.time, *value, false, out);
    } else {
      emitter_.emit(column.meaning, column.tag, *value, out);
    }
  }
}

std::optional<Time> CsvDecoder::time_of() {
  const std::string_view cell = cell_of(time_);
  if (cell.empty()) return std::nullopt;
  if (format_->guessed) return clock_.read_any(cell);
  if (cell.find('-', 1) != std::string_view::npos) return clock_.read(cell);
  const auto ns = parse_time_ns(cell, format_->time_unit);
  return ns ? std::optional(time_from_ns(*ns)) : std::nullopt;
}

void CsvDecoder::state(StateIo& io) {
  io(header_);
  io(emitter_);
  io(steps_);
  io(delivered_);
  io(lines_);
  io(records_);
  io(account_);
  io(clock_);
  if (!io.is_loading() || header_.empty()) return;
  const std::string header = std::exchange(header_, {});
  if (header.size() > kLongestHeader) return io.fail();
  split_row(header, separator_of(header), cells_);
  read_header(header);  // which the configuration may no longer know
}

// A first line that has the form of a header. It must have ended.
Detection detect_csv(const FormatClue& clue) {
  if (clue.kind != FormatClue::Kind::head) return Detection::no;
  std::string_view head = clue.head;
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  const std::size_t end = head.find('\n');
  const std::string_view header = head.substr(0, end);
  const bool printable = std::ranges::none_of(header, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t' && c != '\r') || c == '{' || c == '}';
  });
  if (!printable || header.size() > kLongestHeader || header.starts_with('[')) return Detection::no;
  if (end == std::string_view::npos) return Detection::undecided;
  std::vector<std::string_view> cells;
  split_row(header, separator_of(header), cells);
  const bool known =
      is_header(cells) && format_of(DeclaredFormats::or_presets(clue.declared), cells).has_value();
  return known ? Detection::yes : Detection::no;
}

}  // namespace

extern const Format csv_format = {
    .name = "csv", .detect = &detect_csv, .make = &make_decoder<CsvDecoder>};

}  // namespace trainwatch
