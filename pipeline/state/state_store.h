// What survives: the alerts that were told, in one numbered sequence. An alert may be seen by a
// client only after commit() returned it.
//
// Used by the engine thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trainwatch/alert.h"
#include "trainwatch/result.h"
#include "trainwatch/snapshot.h"

namespace trainwatch {

using PublishedAlerts = std::vector<std::shared_ptr<const PublishedAlert>>;

class StateStore {
 public:
  virtual ~StateStore() = default;

  // Identifies one unbroken sequence of alerts; a new one begins when the state is lost.
  virtual const std::string& epoch() const = 0;

  // Gives the alerts their sequence numbers and makes them durable as far as this store can.
  virtual Result<PublishedAlerts> commit(std::vector<Alert> alerts) = 0;
};

}  // namespace trainwatch
