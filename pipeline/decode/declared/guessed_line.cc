// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/declared/guessed_line.h"

#include <algorithm>
#include <array>
#include <string>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/declared/named_time.h"
#include "pipeline/decode/declared/scalar_text.h"
#include "trainwatch/trimmed.h"

namespace trainwatch {
namespace {

constexpr std::int64_t kMostCounted = 1'000'000'000'000;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
// A digit behind one of these belongs to a word: "pg0", "Acc@1", "v1.2".
bool is_of_word(char c) {
  return is_letter(c) || is_digit(c) || c == '_' || c == '.' || c == '@' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// "nan", "inf" and "-inf" as words of their own.
bool is_number_word(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  const auto is = [text](std::string_view word) {
    return text.size() >= word.size() &&
           std::ranges::equal(text.substr(0, word.size()), word,
                              [](char a, char b) { return (a | 0x20) == b; }) &&
           (text.size() == word.size() || !is_of_word(text[word.size()]) ||
            text.substr(word.size()).starts_with(".0"));  // tqdm's "nan.0"
  };
  return is("nan") || is("inf") || is("infinity");
}

// The numbers of a line, one after another.
class NumberReader {
 public:
  explicit NumberReader(std::string_view line) : line_(line) {}

  // What is before it belongs to it, as far as the number before it.
  struct Number {
    std::string_view before;
    std::string_view text;  // itself and what follows, to the end of the line
    std::string_view unit;  // letters right behind it: "ms/step", "%"
    std::int64_t of = -1;   // -1: no "/500" follows
    bool whole = false;
    bool in_parentheses = false;  // alone, as a mean behind a value
  };

  bool next(Number& number) {
    while (find_begin()) {
      const std::size_t begin = at_;
      if (skip_date()) {
        behind_ = at_;
        continue;
      }
      number = {};
      number.before = line_.substr(behind_, begin - behind_);
      number.text = line_.substr(begin);
      read_digits(number);
      read_fraction(number);
      read_unit(number);
      const std::string_view before = trimmed(number.before, " \t");
      const std::size_t behind =
          at_ < line_.size() && line_[at_] == ' ' ? at_ + 1 + number.unit.size() : at_;
      const bool closes = behind < line_.size() && line_[behind] == ')';
      number.in_parentheses = before == "(" && closes && behind_ > 0;
      behind_ = at_;
      return true;
    }
    return false;
  }

 private:
  bool find_begin() {
    for (; at_ < line_.size(); ++at_) {
      const char c = line_[at_];
      if (at_ > 0 && is_of_word(line_[at_ - 1])) continue;
      if (is_digit(c)) return true;
      const bool sign =
          (c == '-' || c == '+' || c == '.') && at_ + 1 < line_.size() && is_digit(line_[at_ + 1]);
      if (sign || is_number_word(line_.substr(at_))) return true;
    }
    return false;
  }

  // "07:19:37", "2026-08-01", "2026/08/01", "10.0.0.1": digits that are not a number.
  bool skip_date() {
    std::size_t end = at_;
    int marks = 0;
    std::size_t slashes = 0;
    while (end < line_.size()) {
      const char c = line_[end];
      const bool joins = (c == ':' || c == '-' || c == '/' || c == '.') && end + 1 < line_.size() &&
                         is_digit(line_[end + 1]) && end > at_ && is_digit(line_[end - 1]);
      if (!is_digit(c) && !joins) break;
      if (c == ':' || c == '-') marks += 2;
      if (c == '.') ++marks;
      if (c == '/') slashes += 1;
      ++end;
    }
    // "10/20 12:22:50"
    const std::string_view rest = line_.substr(end);
    const bool clock = slashes == 1 && rest.size() > 5 && rest[0] == ' ' && is_digit(rest[1]) &&
                       is_digit(rest[2]) && rest[3] == ':';
    if (marks < 2 && slashes < 2 && !clock) return false;
    // "14:13:21,500"
    if (end + 1 < line_.size() && line_[end] == ',' && is_digit(line_[end + 1])) {
      end = std::min(line_.find_first_not_of("0123456789", end + 1), line_.size());
    }
    at_ = end;
    return true;
  }

  void read_digits(Number& number) {
    if (!is_digit(line_[at_]) && is_number_word(line_.substr(at_))) {
      while (at_ < line_.size() && (line_[at_] == '-' || is_letter(line_[at_]))) ++at_;
      return;
    }
    const std::size_t begin = at_;
    bool whole = true;
    while (at_ < line_.size()) {
      const char c = line_[at_];
      const bool thousands = c == ',' && whole && is_group(at_ + 1);
      const bool exponent =
          (c == 'e' || c == 'E') && at_ + 1 < line_.size() &&
          (is_digit(line_[at_ + 1]) || ((line_[at_ + 1] == '-' || line_[at_ + 1] == '+') &&
                                        at_ + 2 < line_.size() && is_digit(line_[at_ + 2])));
      const bool sign = (c == '-' || c == '+') && (at_ == begin || (line_[at_ - 1] | 0x20) == 'e');
      if (!is_digit(c) && c != '.' && !thousands && !exponent && !sign) break;
      if (c == '.' && (at_ + 1 == line_.size() || !is_digit(line_[at_ + 1]))) break;
      whole = whole && c != '.' && !exponent;
      ++at_;
    }
    number.whole = whole && is_digit(line_[begin]);
  }

  // Three digits, and no more.
  bool is_group(std::size_t at) const {
    for (std::size_t i = 0; i < 3; ++i) {
      if (at + i >= line_.size() || !is_digit(line_[at + i])) return false;
    }
    return at + 3 >= line_.size() || !is_digit(line_[at + 3]);
  }

  void read_fraction(Number& number) {
    if (!number.whole) return;
    std::size_t at = skip_blanks(at_);
    if (at >= line_.size() || line_[at] != '/') return;
    at = skip_blanks(at + 1);
    std::size_t end = std::min(line_.find_first_not_of("0123456789", at), line_.size());
    std::string digits(line_.substr(at, end - at));
    while (!digits.empty() && end < line_.size() && line_[end] == ',' && is_group(end + 1)) {
      digits += line_.substr(end + 1, 3);
      end += 4;
    }
    const auto of = parse_digits(digits);
    const bool ends = end == line_.size() || (!is_of_word(line_[end]) && line_[end] != '/');
    if (!of || *of > kMostCounted || !ends) return;
    number.of = *of;
    at_ = end;
  }

  void read_unit(Number& number) {
    std::size_t begin = at_;
    if (begin < line_.size() && line_[begin] == ' ') ++begin;
    std::size_t end = begin;
    while (end < line_.size() &&
           (is_letter(line_[end]) || line_[end] == '/' || line_[end] == '%')) {
      ++end;
    }
    const bool name = end < line_.size() && (line_[end] == '=' || line_[end] == ':');
    const bool glued = begin == at_;
    number.unit = name && !glued ? std::string_view{} : line_.substr(begin, end - begin);
    if (glued) at_ = end;
  }

  std::size_t skip_blanks(std::size_t at) const {
    while (at < line_.size() && line_[at] == ' ') ++at;
    return at;
  }

  std::string_view line_;
  std::size_t at_ = 0;
  std::size_t behind_ = 0;  // the number before
};

// The last word or words in front of a number: "loss" of " | INFO: train/loss = ".
std::string_view name_before(std::string_view text) {
  // The blocks and lines of which progress bars are drawn.
  for (const std::string_view drawn : {"\xE2\x96", "\xE2\x94", "\xE2\x95"}) {
    const std::size_t at = text.rfind(drawn);
    if (at != std::string_view::npos) text.remove_prefix(std::min(at + 3, text.size()));
  }
  text = trimmed(text, " \t:=([{|'\"><#~*");
  for (const std::string_view separator : {"  ", " - ", ": ", "\t"}) {
    const std::size_t at = text.rfind(separator);
    if (at != std::string_view::npos) text.remove_prefix(at + separator.size());
  }
  const std::size_t mark = text.find_last_of(",;|()[]{}<>=\"'!?");
  if (mark != std::string_view::npos) text.remove_prefix(mark + 1);
  // "INFO:tensorflow:loss"
  const std::size_t colon = text.rfind(':');
  if (colon != std::string_view::npos) text.remove_prefix(colon + 1);
  text = trimmed(text, " \t-");
  for (const std::string_view word : {" is", " was", " of", " at"}) {
    if (text.ends_with(word)) text.remove_suffix(word.size());
  }
  constexpr std::size_t kMostWords = 4;
  std::size_t begin = text.size();
  for (std::size_t words = 0; words < kMostWords && begin != std::string_view::npos && begin > 0;
       ++words) {
    begin = text.rfind(' ', begin - 1);
  }
  if (begin != std::string_view::npos && begin > 0 && begin < text.size())
    text.remove_prefix(begin + 1);
  for (const std::string_view level : {"INFO ", "DEBUG ", "WARNING ", "root "}) {
    if (text.starts_with(level)) text.remove_prefix(level.size());
  }
  return text;
}

// "train", "Test", "INFO Val": what is done, and no name of a number.
bool is_name_of_mode(std::string_view name) {
  return is_evaluation_name(name) || name == "Train" || name == "train" || name == "TRAIN" ||
         name == "Training" || name == "training";
}

// True: it is the number of an epoch or of a step.
bool take_count(const NumberReader::Number& number, std::string_view name, GuessedLine& read) {
  if (!number.whole) return false;
  CounterKind kind = counter_of_name(name);
  const bool nameless = name.empty() || is_name_of_mode(name);
  const bool fraction = number.of > 0 && nameless;
  // "12/500 steps", "29849it [27:34, ...]"
  if (kind == CounterKind::none && nameless) kind = counter_of_name(number.unit);
  constexpr std::string_view kDurations[] = {"ms", "s", "us", "sec", "min", "h"};
  if (std::ranges::find(kDurations, number.unit) != std::end(kDurations)) return false;
  // "12/100 MB" counts something else; "12/100 in epoch 3" does not.
  constexpr std::string_view kNoThings[] = {"", "%", "in", "of", "at", "done", "finished"};
  const bool unnamed = fraction && std::ranges::find(kNoThings, number.unit) != std::end(kNoThings);
  if (kind == CounterKind::none && !unnamed) return false;
  const auto whole = scalar_at(number.text, ScalarKind::other);
  if (!whole || !(*whole >= 0 && *whole < static_cast<double>(kMostCounted))) return true;
  if (kind == CounterKind::epochs && *whole > kMostEpochs) return true;  // a time
  const bool thousands = number.unit == "K" || number.unit == "k";
  const double times = thousands ? 1e3 : number.unit == "M" ? 1e6 : 1;
  const GuessedCount found{static_cast<std::int64_t>(*whole * times),
                           std::max<std::int64_t>(number.of, 0), kind};
  const bool second = kind == CounterKind::none && read.count.is_known() &&
                      read.count.kind == CounterKind::none && !read.epoch.is_known();
  if (second) {  // "[3/300][10/1251]"
    read.epoch = read.count;
    read.count = {};
  }
  GuessedCount& to = found.kind == CounterKind::epochs ? read.epoch : read.count;
  if (!to.is_known() || to.kind < found.kind) to = found;
  return true;
}

// "samples/s"; and of a line that counts steps, "45 ms".
ScalarMeaning meaning_of_unit(std::string_view unit, const GuessedLine& read) {
  if (unit == "ms" && read.count.kind >= CounterKind::steps)
    return {ScalarKind::step_seconds, 1e-3};
  return unit.find('/') == std::string_view::npos ? ScalarMeaning{} : meaning_of_tag(unit, {});
}

// "28s elapsed"
bool is_elapsed(const NumberReader::Number& number) {
  const std::size_t blank = number.text.find(' ');
  return !number.unit.empty() && blank != std::string_view::npos &&
         number.text.substr(blank + 1).starts_with("elapsed");
}

void take_value(const NumberReader::Number& number, std::string_view name, bool evaluates,
                GuessedLine& read) {
  GuessedValue value;
  value.name = name;
  ScalarKind read_as = ScalarKind::other;
  const bool of_epochs = read.epoch.is_known() && !read.count.is_known();
  if (NamedTime::is_name(name, of_epochs)) {
    read_as = ScalarKind::elapsed_seconds;
    value.in_ms = number.unit == "ms";
  } else if (name.empty() && is_elapsed(number)) {
    value.name = "elapsed";
    value.meaning.kind = read_as = ScalarKind::elapsed_seconds;
  } else if (name.empty()) {
    value.name = number.unit;
    value.meaning = meaning_of_unit(number.unit, read);
    if (value.meaning.kind == ScalarKind::other) return;
  } else if (number.unit.ends_with('s') && counter_of_name(name) >= CounterKind::batches) {
    value.meaning.kind = read_as = ScalarKind::step_seconds;  // "Step: 87ms"
  } else {
    value.meaning = meaning_of_tag(name, {});
    read_as = value.meaning.kind;
    // "Speed: 1024 samples/sec"
    if (read_as == ScalarKind::other) value.meaning = meaning_of_unit(number.unit, {});
  }
  const bool known = std::ranges::any_of(
      read.values, [&value](const GuessedValue& each) { return each.name == value.name; });
  const auto found = scalar_at(number.text, read_as);
  if (known || !found || read.values.size() >= GuessedLine::kMostValues) return;
  if (evaluates) {
    value.of_evaluation = value.meaning.kind == ScalarKind::loss;
    if (value.of_evaluation) value.meaning.kind = ScalarKind::validation_loss;
    if (value.meaning.kind != ScalarKind::validation_loss && !is_name_of_mode(name)) return;
  }
  value.value = *found * value.meaning.scale;
  const ScalarKind kind = value.meaning.kind;
  read.has_loss = read.has_loss || kind == ScalarKind::loss || kind == ScalarKind::validation_loss;
  read.has_meaning = read.has_meaning || kind != ScalarKind::other || is_metric_name(value.name);
  read.values.push_back(value);
}

// "epoch 3: loss 2.5 (12.1s)"
void take_time_of_epoch(const NumberReader::Number& number, GuessedLine& read) {
  if (!read.epoch.is_known() || read.count.is_known() || number.unit != "s") return;
  const auto seconds = scalar_at(number.text, ScalarKind::other);
  if (!seconds || read.values.size() >= GuessedLine::kMostValues) return;
  GuessedValue value;
  value.name = number.unit;
  value.value = *seconds;
  value.meaning.kind = ScalarKind::step_seconds;
  read.values.push_back(value);
}

// "step 500 | train 1.70 | val 1.86": nothing else in the line is a loss.
void name_losses_of_modes(GuessedLine& read) {
  const auto named = [&read](auto is) { return std::ranges::find_if(read.values, is); };
  const auto train = named([](const GuessedValue& value) {
    return is_name_of_mode(value.name) && !is_evaluation_name(value.name);
  });
  const auto evaluation = named([](const GuessedValue& value) {
    return is_name_of_mode(value.name) && is_evaluation_name(value.name) &&
           value.name.find(' ') == std::string_view::npos;
  });
  if (train == read.values.end() || evaluation == read.values.end()) return;
  train->meaning.kind = ScalarKind::loss;
  evaluation->meaning.kind = ScalarKind::validation_loss;
  read.has_loss = read.has_meaning = true;
}

bool names_training(std::string_view line) {
  return find_text(line, "rain") != std::string_view::npos;
}

}  // namespace

void read_guessed_line(std::string_view line, GuessedLine& read) {
  read.epoch = read.count = {};
  read.values.clear();
  read.has_loss = read.has_meaning = read.evaluates = read.is_counted = false;
  if (find_text(line, " HTTP/") != std::string_view::npos) return;  // the log of a web server
  NumberReader numbers(line);
  NumberReader::Number number;
  bool evaluates = false;
  bool first = true;
  while (numbers.next(number)) {
    if (number.in_parentheses) {
      take_time_of_epoch(number, read);
      continue;
    }
    const std::string_view name = name_before(number.before);
    const bool percent = number.unit == "%" && number.of < 0;
    if (percent && (name.empty() || counter_of_name(name) != CounterKind::none)) continue;
    // "Test: [10/79]", "Validation epoch 3": what follows is of an evaluation.
    if (first) evaluates = is_evaluation_name(number.before) && !names_training(line);
    first = false;
    if (take_count(number, name, read)) {
      read.evaluates = read.evaluates || (evaluates && read.count.is_known());
      continue;
    }
    // "Epoch 3 Test set: Average loss: 0.5"
    take_value(number, name, evaluates || is_evaluation_name(number.before), read);
  }
  if (!read.has_loss && !is_metric_name(line)) name_losses_of_modes(read);
}

}  // namespace trainwatch
