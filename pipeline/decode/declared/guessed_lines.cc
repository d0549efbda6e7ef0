// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/declared/guessed_lines.h"

#include <algorithm>
#include <utility>

#include "pipeline/decode/declared/progress_bar.h"
#include "pipeline/decode/declared/scalar_text.h"

namespace trainwatch {
namespace {

// Enough for a named counter together with a loss.
constexpr std::size_t kFewest = 2;
constexpr std::size_t kFewestOfOthers = 3;

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
  std::string key = read.epoch.is_known() ? "epoch," : ",";
  if (read.count.is_known()) key += std::to_string(static_cast<int>(read.count.kind));
  for (const GuessedValue& value : read.values) {
    if (value.meaning.kind == ScalarKind::other) continue;
    key += ',';
    key += value.name;
    break;
  }
  return key;
}

bool is_before(std::int64_t one_epoch, std::int64_t one, std::int64_t epoch, std::int64_t count) {
  return one_epoch != epoch ? one_epoch < epoch : one < count;
}

}  // namespace

bool GuessedForm::learns(std::string_view line, const GuessedLine& read,
                         std::vector<HeldLine>& held) {
  const Place at = place_of(read);
  if (!held_.empty()) {
    const bool repeats = at.epoch == held_at_.epoch && at.count == held_at_.count;
    if (repeats) return false;
    if (!is_before(held_at_.epoch, held_at_.count, at.epoch, at.count)) held_.clear();
  }
  held_.push_back({std::string(line), read.epoch});
  held_at_ = at;
  const bool named = read.epoch.is_known() || read.count.kind != CounterKind::none;
  if (held_.size() < (named && read.has_loss ? kFewest : kFewestOfOthers)) return false;
  known_ = true;
  held = std::exchange(held_, {});
  return true;
}

std::int64_t GuessedForm::step_of(const GuessedLine& read) {
  const Place before = std::exchange(last_, place_of(read));
  const Place& at = last_;
  if (at.epoch == kNoStep) return at.count;
  if (at.count == kNoStep) return at.epoch;
  if (read.count.kind == CounterKind::global_steps) return at.count;
  if (first_epoch_ == kNoStep) {
    // A resumed job that prints "Epoch 5/10" most likely counts from 1. The steps of earlier
    // epochs are known only if the line gives the length of an epoch.
    const bool from_one = at.epoch == 1 || (at.epoch > 1 && read.epoch.of > 0);
    first_epoch_ = from_one ? 1 : 0;
    if (read.count.of == 0) first_epoch_ = at.epoch;
  }
  if (before.epoch != kNoStep && at.epoch > before.epoch && counts_ == Counts::undecided) {
    counts_ = at.count > before.count ? Counts::over_all : Counts::within_epochs;
  }
  if (read.count.of > 0) {
    per_epoch_ = read.count.of;
  } else if (counts_ != Counts::over_all) {
    per_epoch_ = std::max(per_epoch_, before.count);
  }
  constexpr std::int64_t kMost = 1'000'000'000;
  const std::int64_t epochs = at.epoch - first_epoch_;
  const bool adds =
      counts_ != Counts::over_all && epochs > 0 && epochs < kMost && per_epoch_ < kMost;
  return adds ? at.count + epochs * per_epoch_ : at.count;
}

bool GuessedForm::repeats(const GuessedLine& read) const {
  const Place at = place_of(read);
  return at.epoch == last_.epoch && at.count == last_.count;
}

ScalarKind GuessedForm::kind_of_time(const GuessedValue& value) {
  constexpr int kEnough = 3;
  const double before = std::exchange(time_, value.value);
  if (before >= 0 && times_risen_ < kEnough) {
    times_risen_ += value.value > before ? 1 : 0;
    time_falls_ = time_falls_ || value.value <= before;
  }
  if (times_risen_ >= kEnough && !time_falls_) return ScalarKind::elapsed_seconds;
  return time_falls_ && value.in_ms ? ScalarKind::step_seconds : ScalarKind::other;
}

void GuessedForm::state(StateIo& io) {
  io(key_);
  io(known_);
  io(held_);
  io(held_at_);
  io(last_);
  io(first_epoch_);
  io(per_epoch_);
  io(counts_);
  io(time_);
  io(times_risen_);
  io(time_falls_);
  io(is_summary);
  io(steps);
  const bool possible = held_.size() < kFewestOfOthers && counts_ < Counts::count_ &&
                        std::ranges::all_of(held_, [](const HeldLine& line) {
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
    epoch_ = read.epoch;
    return nullptr;
  }
  add_epoch(read);
  if (!read.is_record()) return nullptr;
  GuessedForm* const form = form_of(read);
  if (form == nullptr) return nullptr;
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
}

void GuessedLines::add_epoch(GuessedLine& read) const {
  if (!read.epoch.is_known() && read.count.kind < CounterKind::steps) read.epoch = epoch_;
}

GuessedForm* GuessedLines::form_of(const GuessedLine& read) {
  std::string key = key_of(read);
  const auto known = std::ranges::find(forms_, key, &GuessedForm::key);
  if (known != forms_.end()) return &*known;
  if (forms_.size() >= kMostForms) return nullptr;
  return &forms_.emplace_back(std::move(key));
}

void GuessedLines::note_known(GuessedForm& form, const GuessedLine& read) {
  const bool steps = read.count.is_known();
  form.is_summary = !steps && counts_steps_;
  counts_steps_ = counts_steps_ || steps;
}

void GuessedLines::state(StateIo& io) {
  io(forms_);
  io(counts_steps_);
  io(epoch_);
  if (forms_.size() > kMostForms || epoch_.kind > CounterKind::global_steps) io.fail();
}

}  // namespace trainwatch
