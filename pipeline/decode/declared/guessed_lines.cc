// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/declared/guessed_lines.h"

#include <algorithm>
#include <utility>

#include "pipeline/decode/declared/progress_bar.h"
#include "pipeline/decode/declared/scalar_text.h"
#include "trainwatch/trimmed.h"

namespace trainwatch {
namespace {

// Enough for a named counter together with a loss.
constexpr std::size_t kFewest = 2;
constexpr std::size_t kFewestOfOthers = 3;
constexpr std::size_t kFewestOfCounted = 5;

// "Training progress:  45%|████", "Epoch 2: ...": and not of a download or an evaluation.
bool is_bar_of_training(std::string_view line) {
  const std::string_view name = line.substr(0, find_text(line, kBarLiteral));
  constexpr std::string_view kWords[] = {"rain", "poch"};
  return name.size() < line.size() && !is_evaluation_name(name) &&
         std::ranges::any_of(kWords, [name](std::string_view word) {
           return find_text(name, word) != std::string_view::npos;
         });
}

// A bar that begins stands at 0, and shows what the one before has left.
void read_bar(std::string_view line, GuessedLine& read) {
  if (!read.count.is_known() || find_text(line, kBarLiteral) == std::string_view::npos) return;
  if (is_bar_of_training(line)) read.count.kind = std::max(read.count.kind, CounterKind::batches);
  if (read.count.number == 0) read.count = {};
}

std::string key_of(const GuessedLine& read) {
  std::string key = read.epoch.is_known() ? "epoch," : read.is_counted ? "counted," : ",";
  if (read.evaluates) key += "evaluation,";
  if (read.count.is_known()) key += std::to_string(static_cast<int>(read.count.kind));
  for (const GuessedValue& value : read.values) {
    if (value.meaning.kind == ScalarKind::other) continue;
    key += ',';
    key += value.name;
    break;
  }
  return key;
}

bool trains(const GuessedLine& read) {
  return std::ranges::any_of(read.values, [](const GuessedValue& value) {
    return value.meaning.kind == ScalarKind::loss;
  });
}

// Its loss is that of a validation, and nothing else of it is of the training.
void evaluate(GuessedLine& read) {
  if (std::exchange(read.evaluates, true)) return;
  std::erase_if(read.values,
                [](const GuessedValue& value) { return value.meaning.kind != ScalarKind::loss; });
  for (GuessedValue& value : read.values) {
    value.meaning.kind = ScalarKind::validation_loss;
    value.of_evaluation = true;
  }
}

// "Test Error:"
bool is_headline_of_evaluation(std::string_view line, const GuessedLine& read) {
  constexpr std::size_t kLongestHeadline = 64;
  const bool empty = read.values.empty() && !read.epoch.is_known() && !read.count.is_known();
  return empty && line.size() <= kLongestHeadline && trimmed(line).ends_with(':') &&
         is_evaluation_name(line);
}

EpochPlace place_of(const GuessedLine& read) {
  return {read.epoch.number, read.count.number, read.count.of};
}

}  // namespace

bool GuessedForm::learns(std::string_view line, const GuessedLine& read,
                         std::vector<HeldLine>& held) {
  const EpochPlace at = place_of(read);
  if (!held_.empty()) {
    if (at.is_same(held_at_)) return false;
    if (!held_at_.is_before(at)) held_.clear();
  }
  held_.push_back({std::string(line), read.epoch, read.count, read.evaluates});
  held_at_ = at;
  const bool named = read.epoch.is_known() || read.count.kind != CounterKind::none;
  const std::size_t fewest = read.is_counted          ? kFewestOfCounted
                             : named && read.has_loss ? kFewest
                                                      : kFewestOfOthers;
  if (held_.size() < fewest) return false;
  known_ = true;
  held = std::exchange(held_, {});
  return true;
}

std::int64_t GuessedForm::step_of(const GuessedLine& read) {
  // A resumed job that prints "Epoch 5/10" most likely counts from 1.
  const bool from_one = read.epoch.number > 1 && read.epoch.of > 0;
  return places_.step_of(place_of(read), from_one ? std::optional<std::int64_t>(1) : std::nullopt,
                         read.count.kind == CounterKind::global_steps);
}

bool GuessedForm::repeats(const GuessedLine& read) const {
  return place_of(read).is_same(places_.last());
}

void GuessedForm::state(StateIo& io) {
  io(key_);
  io(known_);
  io(held_);
  io(held_at_);
  io(counted_);
  io(places_);
  io(is_summary);
  io(steps);
  const bool possible =
      held_.size() < kFewestOfCounted && std::ranges::all_of(held_, [](const HeldLine& line) {
        return line.text.size() <= GuessedLines::kLongest;
      });
  if (!possible) io.fail();
}

GuessedForm* GuessedLines::take(std::string_view line, GuessedLine& read,
                                std::vector<HeldLine>& held) {
  held.clear();
  if (line.size() > kLongest) return nullptr;
  read_guessed_line(line, read);
  read_bar(line, read);
  if (read.is_headline()) {
    (read.count.is_known() ? count_ : epoch_) = read.count.is_known() ? read.count : read.epoch;
    evaluates_ = false;
    return nullptr;
  }
  if (is_headline_of_evaluation(line, read)) {
    evaluates_ = true;
    return nullptr;
  }
  add_place(read);
  find_evaluation(read);
  if (!read.is_record()) return nullptr;
  GuessedForm* const form = form_of(read);
  if (form == nullptr) return nullptr;
  if (read.is_counted) read.count.number = form->count();
  const bool bar = find_text(line, kBarLiteral) != std::string_view::npos;
  if (form->is_known()) return bar && form->repeats(read) ? nullptr : form;
  if (!form->learns(line, read, held)) return nullptr;
  note_known(*form, read);
  return form;
}

void GuessedLines::read_again(const HeldLine& line, GuessedLine& read) {
  read_guessed_line(line.text, read);
  read_bar(line.text, read);
  read.epoch = line.epoch;
  read.count = line.count;
  if (line.evaluates) evaluate(read);
}

// What the line does not say itself.
void GuessedLines::add_place(GuessedLine& read) {
  if (read.evaluates) return;
  const bool alone = read.is_loss_alone();
  evaluates_ = evaluates_ && alone;
  if (evaluates_) evaluate(read);
  if (!read.epoch.is_known() && read.count.kind < CounterKind::steps) read.epoch = epoch_;
  if (!alone || evaluates_) return;
  if (count_.is_known()) {
    read.count = count_;
  } else if (!epoch_.is_known() && !counts_steps_ && trains(read)) {
    read.count = {0, 0, CounterKind::steps};  // its form counts
    read.is_counted = true;
  }
}

// The bars of a training and of its evaluation look alike: in an epoch the evaluation has fewer
// steps, and comes behind.
void GuessedLines::find_evaluation(GuessedLine& read) {
  const EpochPlace at = place_of(read);
  if (read.count.kind != CounterKind::none || at.of == 0 || at.epoch == kNoStep) return;
  if (at.epoch == longest_.epoch && at.of < longest_.of) return evaluate(read);
  longest_ = at;
}

GuessedForm* GuessedLines::form_of(const GuessedLine& read) {
  std::string key = key_of(read);
  const auto known = std::ranges::find(forms_, key, &GuessedForm::key);
  if (known != forms_.end()) return &*known;
  if (forms_.size() >= kMostForms) return nullptr;
  return &forms_.emplace_back(std::move(key));
}

void GuessedLines::note_known(GuessedForm& form, const GuessedLine& read) {
  const bool steps = read.count.is_known() && !read.is_counted;
  form.is_summary = !steps && counts_steps_;
  counts_steps_ = counts_steps_ || steps;
}

void GuessedLines::state(StateIo& io) {
  io(forms_);
  io(counts_steps_);
  io(epoch_);
  io(count_);
  io(longest_);
  io(evaluates_);
  const auto most = std::max(epoch_.kind, count_.kind);
  if (forms_.size() > kMostForms || most > CounterKind::global_steps) io.fail();
}

}  // namespace trainwatch
