// SPDX-License-Identifier: Apache-2.0
// How the engine does two independent things with a batch of events: evaluate the rules, and run
// the analyses.
#pragma once

#include <functional>

namespace trainwatch {

// Returns when both are done. They may run at the same time, `beside` on another thread.
using RunBoth =
    std::function<void(const std::function<void()>& beside, const std::function<void()>& here)>;

}  // namespace trainwatch
