// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/thread_options.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "daemon/app/fd_budget.h"
#include "daemon/app/watch_roots.h"
#include "pipeline/engine/log_probe.h"

namespace trainwatch {

using std::chrono::milliseconds;

NetOptions net_options(const Config& config, const ListenAddress& listen) {
  NetOptions options;
  options.host = listen.host;
  options.port = listen.port;
  options.allowed_hosts = config.web.allowed_hosts;
  for (const RuleEntry& rule : config.rules) options.rules.emplace_back(rule.config.spec->id);
  options.limits = config.clients;
  options.limits.ws.heartbeat = std::chrono::duration_cast<milliseconds>(config.stream.heartbeat);
  return options;
}

ReaderOptions reader_options(const Config& config, const IngestOptions& input,
                             TailCheckpoint resume) {
  ReaderOptions options;
  options.resume = std::move(resume);
  options.roots = input.roots;
  options.probe = log_probe(input);
  options.limits = tail_limits(config.tail);
  options.limits.idle = std::chrono::minutes(1);
  options.limits.max_open_files =
      std::min(options.limits.max_open_files, fd_budget(descriptor_limit()).files);
  options.poll_interval = std::chrono::duration_cast<milliseconds>(config.tail.poll_interval);
  return options;
}

NetOptions affordable(NetOptions net, Logger& log) {
  auto& http = net.limits.http;
  auto& ws = net.limits.ws;
  const std::size_t wanted = http.connections + http.reserved + ws.subscribers;
  raise_descriptor_limit(descriptors_for({wanted, TailLimits().max_open_files}));
  const std::size_t budget = fd_budget(descriptor_limit()).connections;
  if (wanted <= budget) return net;
  const std::size_t reserved = std::min(http.reserved, budget / 4);
  http.reserved = reserved;
  http.connections = std::clamp<std::size_t>((budget - reserved) / 2, 1, http.connections);
  ws.subscribers = std::max<std::size_t>(
      1, std::min(ws.subscribers, budget - std::min(budget, http.connections + reserved)));
  log.warn("the limit of open files allows fewer clients than configured",
           {{"web.max_connections", std::to_string(http.connections)},
            {"stream.max_subscribers", std::to_string(ws.subscribers)}});
  return net;
}

}  // namespace trainwatch
