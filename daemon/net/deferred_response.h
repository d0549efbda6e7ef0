// An answer to one request that another thread has to give first.
#pragma once

#include <functional>

#include "daemon/net/http_message.h"

namespace trainwatch {

// Net thread only. Whoever drops it gives up waiting.
class DeferredResponse {
 public:
  using Done = std::function<void(HttpResponse)>;

  virtual ~DeferredResponse() = default;
  // Asks. `done` is called once, later; never within the call.
  virtual void later(Done done) = 0;
};

}  // namespace trainwatch
