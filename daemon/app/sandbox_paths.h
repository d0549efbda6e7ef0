// SPDX-License-Identifier: Apache-2.0
// Which files the sandbox leaves to a daemon.
#pragma once

#include <string>
#include <vector>

#include "daemon/app/app.h"
#include "daemon/app/sandbox.h"
#include "daemon/config/web_config_file.h"

namespace trainwatch {

// What is read: the watched paths, /proc, the configuration and what it names, the files of TLS and
// logins. What is written: the state. Connections are made only to receivers.
SandboxPaths sandbox_paths(const RunOptions& options, const std::vector<std::string>& watched,
                           const LoadedAccess& access);

}  // namespace trainwatch
