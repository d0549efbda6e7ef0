// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/store_client.h"

#include <boost/asio/post.hpp>
#include <utility>

#include "daemon/app/engine_thread.h"

namespace trainwatch {

AlertStoreClient store_client(boost::asio::io_context& net,
                              const std::unique_ptr<EngineThread>& engine,
                              Acknowledged acknowledged) {
  AlertStoreClient client;
  std::erase_if(acknowledged,
                [](const auto& entry) { return entry.first.starts_with(kReceiverPrefix); });
  client.acknowledged = std::move(acknowledged);
  const auto back_here = [&net](AlertStoreClient::Done done) {
    return [&net, done = std::move(done)](Result<PublishedAlerts> page) mutable {
      boost::asio::post(net, [done = std::move(done), page = std::move(page)]() mutable {
        done(std::move(page));
      });
    };
  };
  client.fetch = [&engine, back_here](std::uint64_t after, std::size_t limit,
                                      AlertStoreClient::Done done) {
    engine->fetch_alerts(after, limit, back_here(std::move(done)));
  };
  client.fetch_firing = [&engine, back_here](std::size_t limit, AlertStoreClient::Done done) {
    engine->fetch_firing(limit, back_here(std::move(done)));
  };
  client.acknowledge = [&engine](const std::string& name, std::uint64_t seq) {
    if (engine != nullptr) engine->acknowledge(name, seq);
  };
  client.keep = [&engine, &net](KeptDelivery kept) {
    if (engine == nullptr) return;
    if (kept.stored) {
      kept.stored = [&net, stored = std::move(kept.stored)] { boost::asio::post(net, stored); };
    }
    engine->keep(std::move(kept));
  };
  return client;
}

}  // namespace trainwatch
