// SPDX-License-Identifier: Apache-2.0
// One test per transition of a file's phase, legal or not.
#include "pipeline/tail/file_phase.h"

#include <gtest/gtest.h>

#include <string>

namespace trainwatch::file_phase_test {

constexpr std::optional<Phase> kIllegal = std::nullopt;

struct Transition {
  Phase from;
  PhaseEvent event;
  std::optional<Phase> to;
};

class FilePhaseTest : public ::testing::TestWithParam<Transition> {};

TEST_P(FilePhaseTest, Transition) {
  EXPECT_EQ(next_phase(GetParam().from, GetParam().event), GetParam().to);
}

std::string name_of(const ::testing::TestParamInfo<Transition>& info) {
  static constexpr const char* kPhases[] = {"discovered", "skipped",  "reading",
                                            "ending",     "finished", "revived"};
  static constexpr const char* kEvents[] = {"Opened", "EndDue", "EndRevoked", "Finished",
                                            "Restarted"};
  return std::string(kPhases[static_cast<std::size_t>(info.param.from)]) +
         kEvents[static_cast<std::size_t>(info.param.event)];
}

using E = PhaseEvent;
using P = Phase;
INSTANTIATE_TEST_SUITE_P(
    All, FilePhaseTest,
    ::testing::Values(
        // Its first byte is read.
        Transition{P::discovered, E::opened, P::reading},
        // Its lane went on while it was empty, or before it was read.
        Transition{P::discovered, E::end_due, P::skipped},
        Transition{P::discovered, E::end_revoked, P::discovered},
        // The sink hears opened() before finished() and restarted().
        Transition{P::discovered, E::finished, kIllegal},
        Transition{P::discovered, E::restarted, kIllegal},
        // It was not empty after all.
        Transition{P::skipped, E::opened, P::ending},
        Transition{P::skipped, E::end_due, P::skipped},
        // The newer file of its lane is gone again.
        Transition{P::skipped, E::end_revoked, P::discovered},
        Transition{P::skipped, E::finished, kIllegal},
        Transition{P::skipped, E::restarted, kIllegal},
        // opened() is called once.
        Transition{P::reading, E::opened, kIllegal},
        // Deleted, replaced, or its lane went on.
        Transition{P::reading, E::end_due, P::ending},
        Transition{P::reading, E::end_revoked, P::reading},
        // Somebody may still write to it.
        Transition{P::reading, E::finished, kIllegal},
        // Truncated.
        Transition{P::reading, E::restarted, P::reading},
        Transition{P::ending, E::opened, kIllegal}, Transition{P::ending, E::end_due, P::ending},
        // A rotated file that its writer had not let go of.
        Transition{P::ending, E::end_revoked, P::reading},
        // Read to its end.
        Transition{P::ending, E::finished, P::finished},
        Transition{P::ending, E::restarted, P::ending},
        Transition{P::finished, E::opened, kIllegal},
        Transition{P::finished, E::end_due, P::finished},
        // The newer file of its lane is gone, or trainwatch has just been started again.
        Transition{P::finished, E::end_revoked, P::revived},
        // finished() is called once for each content.
        Transition{P::finished, E::finished, kIllegal},
        // It has new content, which ends like the former one.
        Transition{P::finished, E::restarted, P::ending},
        Transition{P::revived, E::opened, kIllegal},
        Transition{P::revived, E::end_due, P::finished},
        Transition{P::revived, E::end_revoked, P::revived},
        Transition{P::revived, E::finished, kIllegal},
        // Rewritten in place after it was finished.
        Transition{P::revived, E::restarted, P::reading}),
    name_of);

TEST(FilePhase, AnswersWhatTheSinkHasHeard) {
  FilePhase phase;
  EXPECT_FALSE(phase.opened());
  phase.on(E::opened);
  EXPECT_TRUE(phase.opened() && !phase.end_is_due());
  phase.set_end_due(true);
  EXPECT_TRUE(phase.end_is_due() && !phase.over() && !phase.finished());
  phase.on(E::finished);
  EXPECT_TRUE(phase.over() && phase.finished());
  phase.set_end_due(false);
  EXPECT_TRUE(phase.finished() && !phase.over());
}

TEST(FilePhase, AnUnreadFileWhoseEndIsDueIsOver) {
  FilePhase phase;
  phase.set_end_due(true);
  EXPECT_TRUE(phase.over() && !phase.finished());
}

// Until a scan has seen its lane, nobody knows whether its end is due.
TEST(FilePhase, RestoredFromACheckpoint) {
  EXPECT_EQ(FilePhase::restored(false).now(), P::reading);
  EXPECT_EQ(FilePhase::restored(true).now(), P::revived);
}

}  // namespace trainwatch::file_phase_test
