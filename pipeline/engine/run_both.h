// How the engine does two things with a batch of events that have nothing to do with each other:
// the rules judge it, and the analyses count it.
#pragma once

#include <functional>

namespace trainwatch {

// Returns when both are done. They may run at the same time, `beside` on another thread.
using RunBoth =
    std::function<void(const std::function<void()>& beside, const std::function<void()>& here)>;

}  // namespace trainwatch
