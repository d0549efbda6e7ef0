// SPDX-License-Identifier: Apache-2.0
// Which rules, or which analyses, take an event: their places in the list that a host runs.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "trainwatch/interest.h"

namespace trainwatch {

class EventRoutes {
 public:
  using Takers = std::vector<std::uint32_t>;

  // One entry of `List` is a spec, or has one, whose interest `interest_of(entry)` gives.
  template <class List, class InterestOf>
  EventRoutes(const List& list, InterestOf&& interest_of) {
    for (std::uint32_t place = 0; place < list.size(); ++place)
      add(place, interest_of(list[place]));
  }

  const Takers& of(const Sample& sample) const {
    return samples_[static_cast<std::size_t>(sample.resource)];
  }
  const Takers& of(const Span& span) const { return spans_[static_cast<std::size_t>(span.kind)]; }
  const Takers& steps(Origin origin) const {
    return origin == Origin::log ? logged_steps_ : steps_;
  }
  const Takers& cycles() const { return cycles_; }
  const Takers& hangs() const { return hangs_; }
  const Takers& booked() const { return booked_; }
  const Takers& run_ends() const { return run_ends_; }
  const Takers& gpu_reports() const { return gpu_reports_; }
  const Takers& complete_steps(Origin origin) const {
    return origin == Origin::log ? complete_logged_steps_ : complete_steps_;
  }
  const Takers& notes() const { return notes_; }
  const Takers& scalars() const { return scalars_; }
  const Takers& tensors() const { return tensors_; }
  const Takers& ticks() const { return ticks_; }
  const Takers& end() const { return end_; }

 private:
  void add(std::uint32_t place, const Interest& interest) {
    for (const Resource resource : interest.samples) {
      samples_[static_cast<std::size_t>(resource)].push_back(place);
    }
    for (const SpanKind kind : interest.spans) {
      spans_[static_cast<std::size_t>(kind)].push_back(place);
    }
    if (interest.steps) steps_.push_back(place);
    if (interest.steps && interest.logged_steps) logged_steps_.push_back(place);
    if (interest.cycles) cycles_.push_back(place);
    if (interest.hangs) hangs_.push_back(place);
    if (interest.booked) booked_.push_back(place);
    if (interest.run_ends) run_ends_.push_back(place);
    if (interest.gpu_reports) gpu_reports_.push_back(place);
    if (interest.complete_steps) complete_steps_.push_back(place);
    if (interest.complete_steps && interest.logged_steps) complete_logged_steps_.push_back(place);
    if (interest.notes) notes_.push_back(place);
    if (interest.scalars) scalars_.push_back(place);
    if (interest.tensors) tensors_.push_back(place);
    if (interest.ticks) ticks_.push_back(place);
    // The end is event time, too: it promotes or resolves alerts of cycles that wait for it.
    if (interest.end || interest.cycles || interest.hangs) end_.push_back(place);
  }

  std::array<Takers, static_cast<std::size_t>(Resource::count_)> samples_;
  std::array<Takers, static_cast<std::size_t>(SpanKind::count_)> spans_;
  Takers steps_;
  Takers logged_steps_;
  Takers cycles_;
  Takers hangs_;
  Takers booked_;
  Takers run_ends_;
  Takers gpu_reports_;
  Takers complete_steps_;
  Takers complete_logged_steps_;
  Takers notes_;
  Takers scalars_;
  Takers tensors_;
  Takers ticks_;
  Takers end_;
};

}  // namespace trainwatch
