// What the network half needs of the durable store, which another thread owns. Net thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "daemon/net/alert_hub.h"
#include "trainwatch/result.h"

namespace trainwatch {

// At most so many alerts are asked for at once.
inline constexpr std::size_t kArchivePage = 256;

struct AlertStoreClient {
  // The oldest alerts with a higher number than was asked, or why the store cannot be read.
  using Page = Result<std::vector<PublishedAlertPtr>>;
  using Done = std::function<void(Page)>;

  // At most `limit` stored alerts with seq > `after`, oldest first, without holes. `done` is called
  // on the net thread, never within the call; it is dropped when the store closes first.
  std::function<void(std::uint64_t after, std::size_t limit, Done done)> fetch;

  // Stores how far a named subscriber has come: of what is newer nothing is dropped by age or
  // number up to the store's hard limit.
  std::function<void(const std::string& name, std::uint64_t seq)> acknowledge;

  // The named subscribers at the start.
  std::map<std::string, std::uint64_t> acknowledged{};
};

}  // namespace trainwatch
