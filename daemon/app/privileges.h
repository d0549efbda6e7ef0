// SPDX-License-Identifier: Apache-2.0
// Root's rights, which the daemon does not need.
#pragma once

#include <string>

#include "trainwatch/result.h"

namespace trainwatch {

bool runs_as_root();

// Becomes this user, for good: its groups, its group, the user. Only root can, before any other
// thread exists; the user that runs already may be named.
Status become_user(const std::string& name);

}  // namespace trainwatch
