// SPDX-License-Identifier: Apache-2.0
// A limit of clients as a setting.
#pragma once

#include "daemon/config/config_table.h"
#include "daemon/net/client_limits.h"

namespace trainwatch {

// `limit` is a row of client_limits().
ConfigField<Config> client_limit_field(const ClientLimit& limit);

}  // namespace trainwatch
