#include "daemon/net/net_state.h"

#include "daemon/net/http_connection.h"

namespace trainwatch {

void NetState::drop(ConnectionTable::Id id) {
  const auto found = connections.find(id);
  if (found == connections.end()) return;
  const auto connection = found->second;  // leaves the map
  connection->close();
}

}  // namespace trainwatch
