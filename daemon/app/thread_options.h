// SPDX-License-Identifier: Apache-2.0
// What the net thread and the reader are started with: the configuration, within the file
// descriptors that this process may have.
#pragma once

#include <vector>

#include "daemon/app/reader.h"
#include "daemon/config/config.h"
#include "daemon/logging.h"
#include "daemon/net/http_server.h"
#include "daemon/net/url.h"

namespace trainwatch {

NetOptions net_options(const Config& config, const ListenAddress& listen);

// Raises the limit of open files as far as `net` needs and the system allows. Beyond that fewer
// clients are admitted, and the log says how many.
NetOptions affordable(NetOptions net, Logger& log);

ReaderOptions reader_options(const Config& config, const IngestOptions& input,
                             TailCheckpoint resume);

}  // namespace trainwatch
