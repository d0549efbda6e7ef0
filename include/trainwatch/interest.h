// SPDX-License-Identifier: Apache-2.0
// Which events reach a rule or an analysis: those whose method its class overrides, and of samples
// and spans only the kinds that its spec names. make_spec() of both derives it.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "trainwatch/event.h"

namespace trainwatch {

struct Interest {
  std::vector<Resource> samples{};
  std::vector<SpanKind> spans{};
  bool steps = false;
  bool cycles = false;
  bool complete_steps = false;
  bool logged_steps = false;  // those of origin `log` as well
  bool hangs = false;
  bool booked = false;
  bool run_ends = false;
  bool gpu_reports = false;
  bool notes = false;
  bool scalars = false;
  bool tensors = false;
  bool ticks = false;
  bool end = false;
  // Who asks for nothing says nothing.
  bool none() const {
    return samples.empty() && spans.empty() && !steps && !complete_steps && !cycles && !hangs &&
           !booked && !run_ends && !gpu_reports && !notes && !scalars && !tensors && !ticks && !end;
  }
};

namespace detail {

template <class Kind>
std::vector<Kind> every_kind() {
  std::vector<Kind> kinds;
  for (std::size_t i = 0; i < static_cast<std::size_t>(Kind::count_); ++i) {
    kinds.push_back(static_cast<Kind>(i));
  }
  return kinds;
}

// True when a class, or one between it and the interface, overrides the method.
template <class Inherited, class Own>
constexpr bool overrides(Inherited, Own) {
  return !std::is_same_v<Inherited, Own>;
}

// What both interfaces have: samples, spans and cycles.
template <class Interface, class Type>
Interest interest_of(std::string_view name, const std::vector<Resource>& samples,
                     const std::vector<SpanKind>& spans) {
  constexpr bool kSamples = overrides(&Interface::on_sample, &Type::on_sample);
  constexpr bool kSpans = overrides(&Interface::on_span, &Type::on_span);
  if (samples.empty() == kSamples || spans.empty() == kSpans) {
    throw std::logic_error(std::string(name) +
                           ": samples and spans do not fit on_sample() and on_span()");
  }
  return {.samples = samples,
          .spans = spans,
          .cycles = overrides(&Interface::on_cycle, &Type::on_cycle)};
}

}  // namespace detail

inline std::vector<Resource> every_resource() {
  return detail::every_kind<Resource>();
}
inline std::vector<SpanKind> every_span_kind() {
  return detail::every_kind<SpanKind>();
}

}  // namespace trainwatch
