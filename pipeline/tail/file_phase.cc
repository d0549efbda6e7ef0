// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tail/file_phase.h"

#include <array>
#include <cassert>
#include <cstddef>

namespace trainwatch {
namespace {

struct Transitions {
  Phase phase;
  // In the order of PhaseEvent.
  std::optional<Phase> opened, end_due, end_revoked, finished, restarted;
};

const Transitions& transitions_of(Phase phase) {
  using enum Phase;
  constexpr std::nullopt_t illegal = std::nullopt;
  // clang-format off
  static constexpr std::array<Transitions, 6> kTable = {{
      // phase     opened   end_due   end_revoked finished  restarted
      {discovered, reading, skipped,  discovered, illegal,  illegal},
      {skipped,    ending,  skipped,  discovered, illegal,  illegal},
      {reading,    illegal, ending,   reading,    illegal,  reading},
      {ending,     illegal, ending,   reading,    finished, ending},
      {finished,   illegal, finished, revived,    illegal,  ending},
      {revived,    illegal, finished, revived,    illegal,  reading},
  }};
  // clang-format on
  const Transitions& found = kTable[static_cast<std::size_t>(phase)];
  assert(found.phase == phase);
  return found;
}

}  // namespace

std::optional<Phase> next_phase(Phase phase, PhaseEvent event) {
  const Transitions& row = transitions_of(phase);
  switch (event) {
    case PhaseEvent::opened:
      return row.opened;
    case PhaseEvent::end_due:
      return row.end_due;
    case PhaseEvent::end_revoked:
      return row.end_revoked;
    case PhaseEvent::finished:
      return row.finished;
    case PhaseEvent::restarted:
      return row.restarted;
  }
  return std::nullopt;
}

void FilePhase::on(PhaseEvent event) {
  const std::optional<Phase> next = next_phase(phase_, event);
  assert(next.has_value());
  phase_ = next.value_or(phase_);
}

}  // namespace trainwatch
