// SPDX-License-Identifier: Apache-2.0
// What each cause is called in a sentence for somebody who has five seconds.
#pragma once

#include <string_view>

#include "trainwatch/life_part.h"
#include "trainwatch/verdict.h"

namespace trainwatch {

// Clauses without capital and full stop; ranks and figures follow them.
struct CauseWords {
  std::string_view lasting;    // "every step waits for data"; empty: the rule has better words
  std::string_view recurring;  // "some steps wait for data"
  std::string_view once;       // "a step waited for data"
  std::string_view spent;      // "waiting for data": behind "it is", "it was" and "mostly"
  std::string_view next{};     // what to do, a sentence; empty: the rule has better advice
};

const CauseWords& words_of(CauseName cause);
// Gives the verdict this cause, and the advice that goes with it.
void set_cause(Verdict& verdict, Cause cause);
// The same for a part of the account, behind "mostly".
std::string_view spent_words(LifePart part);

}  // namespace trainwatch
