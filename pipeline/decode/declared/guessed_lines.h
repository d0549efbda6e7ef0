// SPDX-License-Identifier: Apache-2.0
// Learns which lines of a text that no declaration knows are records: those of one form whose
// counter rises. The first of them are held back until there are enough.
//
// Lines have the same form if their counters and their first value have the same names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/decode/declared/guessed_line.h"
#include "pipeline/decode/scalar_steps.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

struct HeldLine {
  std::string text;
  GuessedCount epoch;  // that it has, or that was said before it

  void state(StateIo& io) {
    io(text);
    io(epoch);
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
  // The step of a line; call once for each, in order. Where a counter begins anew with each epoch
  // the step is counted over all of them, the first of which is 0 or 1.
  std::int64_t step_of(const GuessedLine& read);
  // It counts what the line did whose step was asked for last.
  bool repeats(const GuessedLine& read) const;
  // What a value means that is named just "time": the time since the beginning if it rises from
  // line to line; a duration if it does not and is in ms. `other` until there are enough lines.
  ScalarKind kind_of_time(const GuessedValue& value);

  // It counts epochs, and another known form counts something finer.
  bool is_summary = false;
  RecordSteps steps;

  void state(StateIo& io);

 private:
  struct Place {
    std::int64_t epoch = kNoStep;
    std::int64_t count = kNoStep;
    void state(StateIo& io) {
      io(epoch);
      io(count);
    }
  };
  enum class Counts : std::uint8_t { undecided, within_epochs, over_all, count_ };

  static Place place_of(const GuessedLine& read) { return {read.epoch.number, read.count.number}; }

  std::string key_;
  bool known_ = false;
  std::vector<HeldLine> held_;
  Place held_at_;  // of the last that is held
  Place last_;     // whose step was asked for
  std::int64_t first_epoch_ = kNoStep;
  std::int64_t per_epoch_ = 0;
  Counts counts_ = Counts::undecided;
  double time_ = -1;     // of the last line
  int times_risen_ = 0;  // in a row, from the first line on
  bool time_falls_ = false;
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
  void add_epoch(GuessedLine& read) const;
  GuessedForm* form_of(const GuessedLine& read);
  void note_known(GuessedForm& form, const GuessedLine& read);

  std::vector<GuessedForm> forms_;
  bool counts_steps_ = false;  // a known form counts something finer than epochs
  // "Epoch 3/10" on a line of its own, for the lines without an epoch that follow.
  GuessedCount epoch_;
};

}  // namespace trainwatch
