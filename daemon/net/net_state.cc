// SPDX-License-Identifier: Apache-2.0
#include "daemon/net/net_state.h"

#include "daemon/net/http_connection.h"

namespace trainwatch {

bool NetState::is_fresh() const {
  constexpr auto kFresh = std::chrono::seconds(2);  // with some to spare
  return !sources.refresh || std::chrono::steady_clock::now() - shown < kFresh;
}

void NetState::drop(ConnectionTable::Id id) {
  const auto found = connections.find(id);
  if (found == connections.end()) return;
  const auto connection = found->second;  // leaves the map
  connection->close();
}

}  // namespace trainwatch
