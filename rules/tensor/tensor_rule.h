// SPDX-License-Identifier: Apache-2.0
// What rules on tensors share: a track for each tensor and mode of a rank, and one alert for all
// tensors that are wrong at a time, so that a whole model whose gradients vanish is one alert.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rules/tensor/tensor_selection.h"
#include "rules/tensor/tensor_words.h"
#include "trainwatch/rule.h"
#include "trainwatch/tensor.h"

namespace trainwatch {

// Of a rule that remembers nothing between two steps of a tensor.
struct NoTensorMemory {
  bool possible() const { return true; }
  void state(StateIo&) {}
};

// What a rule says of one tensor at one step.
struct TensorJudgement {
  bool bad = false;
  double value = 0;
  double threshold = 0;
  std::uint8_t pattern = 0;  // which of the rule's phrases
};

// One step of one tensor, or of a scalar that stands for one.
struct TensorPlace {
  Symbol name = Symbol::none;
  Mode mode = Mode::global;
  std::int64_t step = kNoStep;  // of its mode
  Time at{};
};

inline TensorPlace place_of(const Tensor& tensor) {
  return {tensor.name, tensor.mode, tensor.mode_step, tensor.at};
}

// `Memory` is what a rule keeps of each tensor: possible() and state(io).
template <class Memory>
class TensorRule : public Rule {
 public:
  static constexpr std::size_t kMostTensors =
      256;  // tensors and modes; further ones are not judged

  // The alert ends when no tensor is wrong any more.
  Lifecycle lifecycle() const override {
    return {.change = Lifecycle::Change::rise, .min_change = Lifecycle::kNeverByFigure};
  }
  bool warming() const override { return tracks_.empty(); }
  std::vector<std::string_view> missing() const override {
    std::vector<std::string_view> inputs;
    if (tracks_.empty()) inputs.push_back(wanted());
    if (lacks_elements_) inputs.push_back("all elements of large tensors");
    return inputs;
  }
  void state(StateIo& io) override {
    io(tracks_);
    io(open_name_);
    io(open_mode_);
    io(open_attempt_);
    io(open_);
    io(lacks_elements_);
    if (open_attempt_ < 1 || open_mode_ >= Mode::count_ || !is_known(open_name_) ||
        tracks_.size() > most_tensors() ||
        !std::ranges::all_of(tracks_, [this](const Track& track) {
          return track.possible() && is_known(track.name) && track.pattern < phrases().size();
        })) {
      io.fail();
    }
  }

 protected:
  struct Track {
    Symbol name = Symbol::none;
    Mode mode = Mode::global;
    std::uint8_t pattern = 0;
    bool bad = false;
    std::uint32_t attempt = 1;
    std::int64_t latest = kNoStep;
    std::int64_t bad_step = kNoStep;
    Time bad_since{};
    double value = 0;
    double threshold = 0;
    Memory memory{};

    bool possible() const {
      return mode < Mode::count_ && attempt >= 1 && latest >= kNoStep && bad_step >= kNoStep &&
             is_possible(bad_since) && memory.possible();
    }
  };

  explicit TensorRule(const RuleContext& context) : interner_(context.interner) {}

  virtual std::span<const TensorPhrases> phrases() const = 0;
  virtual std::string_view wanted() const = 0;  // for missing(): "gradients"
  virtual std::size_t most_tensors() const { return kMostTensors; }

  // The track of a tensor that has got to this step; null if there are too many others. A step that
  // goes back is of another attempt, as after a resume from a checkpoint.
  Track* reach(const TensorPlace& place, Verdicts& out) {
    const auto found = std::ranges::find_if(tracks_, [&](const Track& track) {
      return track.name == place.name && track.mode == place.mode;
    });
    if (found == tracks_.end()) {
      if (tracks_.size() >= most_tensors()) return nullptr;
      Track& made = tracks_.emplace_back();
      made.name = place.name;
      made.mode = place.mode;
      made.latest = place.step;
      return &made;
    }
    if (place.step != kNoStep && place.step < found->latest) restart(*found, place.at, out);
    if (place.step != kNoStep) found->latest = place.step;
    return &*found;
  }

  void judge(Track& track, const TensorPlace& place, const TensorJudgement& judged, Verdicts& out) {
    judged.bad ? on_bad(track, place, judged, out) : on_good(track, place.at, out);
  }

  // All elements, for a rule that needs them; empty, and noted, if they are not there.
  std::span<const double> elements(const Tensor& tensor) {
    const bool lacks = tensor.values.empty() && tensor.statistics.count > 0;
    lacks_elements_ = lacks_elements_ || lacks;
    return tensor.values;
  }

  bool is_known(Symbol name) const {
    return static_cast<std::size_t>(name) < interner_.symbols.size();
  }
  const Interner& interner() const { return interner_; }
  std::span<Track> tracks() { return tracks_; }
  std::span<const Track> tracks() const { return tracks_; }

 private:
  static constexpr std::size_t kNamed = 5;  // tensors, in an alert

  // Of the tensor that opened the alert. Ids of alerts about scalars are made of key and step
  // (alert_book.cc), so the key has the attempt.
  std::string key() const {
    std::string text(interner_.text(open_name_));
    text += " (" + std::string(to_string(open_mode_)) + ")";
    if (open_attempt_ > 1) text += " attempt " + std::to_string(open_attempt_);
    return text;
  }
  void open(const Track& track) {
    open_ = true;
    open_name_ = track.name;
    open_mode_ = track.mode;
    open_attempt_ = track.attempt;
  }

  void on_bad(Track& track, const TensorPlace& place, const TensorJudgement& judged,
              Verdicts& out) {
    if (!track.bad) {
      track.bad = true;
      track.bad_step = place.step;
      track.bad_since = place.at;
    }
    track.value = judged.value;
    track.threshold = judged.threshold;
    track.pattern = judged.pattern;
    if (!open_) open(track);
    const std::string name = key();
    const std::uint64_t bad = count_bad();
    // Worth an update: another number of tensors, another pattern, twice as many evaluations.
    out.fires({.key = name,
               .at = place.at,
               .aspect = bad * phrases().size() + first_bad().pattern,
               .amount = out.firings(name) + 1},
              [&] { return describe(bad); });
  }

  void on_good(Track& track, Time at, Verdicts& out) {
    track.bad = false;
    if (!open_ || count_bad() > 0) return;
    const std::string name = key();
    out.clear(name, at);
    open_ = out.firings(name) > 0;
  }

  void restart(Track& track, Time at, Verdicts& out) {
    track.bad = false;
    track.memory = Memory{};
    track.latest = kNoStep;
    ++track.attempt;
    if (!open_ || count_bad() > 0) return;
    out.restarted(at);
    open_ = false;
  }

  std::uint64_t count_bad() const {
    return static_cast<std::uint64_t>(std::ranges::count_if(tracks_, &Track::bad));
  }
  // The one that was wrong first.
  const Track& first_bad() const {
    const Track* first = nullptr;
    for (const Track& track : tracks_) {
      if (track.bad && (first == nullptr || track.bad_since < first->bad_since)) first = &track;
    }
    return *first;
  }

  TensorFinding finding_of(const Track& track) const {
    return {.name = interner_.symbols.text(track.name),
            .mode = track.mode,
            .step = track.latest,
            .first_step = track.bad_step,
            .since = track.bad_since,
            .value = track.value,
            .threshold = track.threshold};
  }
  Verdict describe(std::uint64_t bad) const {
    std::array<TensorFinding, kNamed> named;
    const Track& first = first_bad();
    std::size_t count = 0;
    named[count++] = finding_of(first);
    for (const Track& track : tracks_) {
      if (count == kNamed) break;
      if (track.bad && &track != &first) named[count++] = finding_of(track);
    }
    return describe_tensors(phrases()[first.pattern], std::span(named).first(count),
                            static_cast<std::size_t>(bad), tracks_.size());
  }

  const Interner& interner_;
  std::vector<Track> tracks_;
  bool open_ = false;  // an alert was opened that may not have ended, by this tensor
  Symbol open_name_ = Symbol::none;
  Mode open_mode_ = Mode::global;
  std::uint32_t open_attempt_ = 1;
  bool lacks_elements_ = false;
};

}  // namespace trainwatch
