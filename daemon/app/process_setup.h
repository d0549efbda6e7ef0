// SPDX-License-Identifier: Apache-2.0
// What the daemon asks of its process before anything else.
#pragma once

#include <optional>

#include "daemon/app/open_store.h"

namespace trainwatch {

// A client or a reader of the log that goes away (SIGPIPE) and a file that reaches its limit
// (SIGXFSZ) become errors of the call that wrote.
void ignore_signals_of_writes();

// An exception that leaves a destructor or a function that must not throw ends the process like any
// other (guarded_thread.h).
void say_why_at_termination();

// Whether the limits of the process leave enough to work with.
std::optional<StartFailure> check_limits();

}  // namespace trainwatch
