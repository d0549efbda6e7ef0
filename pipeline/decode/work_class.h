// What device work is for, by its name. HTA's patterns in HTA's order: the first that fits decides,
// so that "Memcpy" inside a kernel's name makes it `other`, and any name that begins with "hip" is
// communication. They look at the first line of a name only.
#pragma once

#include <string_view>

#include "trainwatch/cycle_trace.h"

namespace trainwatch {

WorkClass work_class(std::string_view name);

// Whether a runtime or driver call of this name launches device work.
bool is_launch(std::string_view call);
// Whether it returns only when work on a device is done.
bool is_blocking(std::string_view call);

}  // namespace trainwatch
