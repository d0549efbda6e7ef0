// SPDX-License-Identifier: Apache-2.0
// Learns which lines of a text that no declaration knows are records: those of one form whose
// counter rises. The first of them are held back until there are enough.
//
// Lines have the same form if their counters and their first value have the same names. Of a text
// in which nothing counts, those with a loss are counted themselves.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/decode/declared/epoch_steps.h"
#include "pipeline/decode/declared/guessed_line.h"
#include "pipeline/decode/scalar_steps.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

struct HeldLine {
  std::string text;
  // That it has, or that were said before it.
  GuessedCount epoch;
  GuessedCount count;
  bool evaluates = false;

  void state(StateIo& io) {
    io(text);
    io(epoch);
    io(count);
    io(evaluates);
  }
};

// Lines of one form.
class GuessedForm {
 public:
  explicit GuessedForm(std::string key = {}) : key_(std::move(key)) {}

  const std::string& key() const { return key_; }
  bool is_known() const { return known_; }
  // Takes the next line of a form that is not known yet. True: it is known now, and `held` are its
  // lines so far, with this one.
  bool learns(std::string_view line, const GuessedLine& read, std::vector<HeldLine>& held);
  // The next number of a line that has none.
  std::int64_t count() { return ++counted_; }
  // The step of a line; call once for each, in order. Where a counter begins anew with each epoch
  // the step is counted over all of them, the first of which is 0 or 1.
  std::int64_t step_of(const GuessedLine& read);
  bool counts_over_all() const { return places_.counts_over_all(); }
  // It counts what the line did whose step was asked for last.
  bool repeats(const GuessedLine& read) const;

  // It counts epochs, and another known form counts something finer.
  bool is_summary = false;
  RecordSteps steps;

  void state(StateIo& io);

 private:
  std::string key_;
  bool known_ = false;
  std::vector<HeldLine> held_;
  EpochPlace held_at_;  // of the last that is held
  EpochSteps places_;
  std::int64_t counted_ = 0;  // lines without a count of their own
};

class GuessedLines {
 public:
  static constexpr std::size_t kMostForms = 16;  // further ones are not learned
  static constexpr std::size_t kLongest = 2048;  // bytes of a line; longer ones are no records

  // Reads a line without colours. Null: it is no record of a known form. `held`: if the form has
  // become known with this line, all lines of it so far, the oldest first and this one the last;
  // else empty.
  GuessedForm* take(std::string_view line, GuessedLine& read, std::vector<HeldLine>& held);
  // Reads one of `held`.
  static void read_again(const HeldLine& line, GuessedLine& read);

  void state(StateIo& io);

 private:
  void add_place(GuessedLine& read);
  void find_evaluation(GuessedLine& read);
  GuessedForm* form_of(const GuessedLine& read);
  void note_known(GuessedForm& form, const GuessedLine& read);

  std::vector<GuessedForm> forms_;
  bool counts_steps_ = false;  // a known form counts something finer than epochs
  // "Epoch 3/10" or "Step 100" on a line of its own, for the lines without one that follow.
  GuessedCount epoch_;
  GuessedCount count_;
  // "Test Error:" came, and no line of the training since.
  bool evaluates_ = false;
  EpochPlace longest_;  // of the counts without a name of the last epoch
};

}  // namespace trainwatch
