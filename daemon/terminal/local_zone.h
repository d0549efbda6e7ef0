// SPDX-License-Identifier: Apache-2.0
// The zone of whoever looks.
#pragma once

#include "pipeline/engine/headline_text.h"
#include "trainwatch/time.h"

namespace trainwatch {

// That of this process ($TZ, /etc/localtime) at a moment. The first call reads the system's tables:
// before a sandbox is entered.
Zone local_zone(Time at);

}  // namespace trainwatch
