// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <chrono>
#include <memory>
#include <ostream>
#include <string>
#include <utility>

#include "commands/commands.h"
#include "commands/sample/host_sampler.h"
#include "commands/sample/interval_loop.h"
#include "commands/sample/metrics_file.h"
#include "commands/sample/nvml.h"

namespace trainwatch {
namespace {

std::string this_node() {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  return node_name_of(host);
}

std::unique_ptr<GpuSource> find_gpus(std::ostream& err) {
  const auto no_gpus = [&](const Error& why) {
    err << "trainwatch sample: no GPU metrics: " << why.message << '\n';
    return nullptr;
  };
  const auto api = load_nvml();
  if (!api) return no_gpus(api.error());
  auto gpus = open_nvml(*api);
  if (!gpus) return no_gpus(gpus.error());
  return std::move(*gpus);
}

int failed(std::ostream& err, const Error& error) {
  err << "trainwatch sample: " << error.message << std::endl;
  return 1;
}

}  // namespace

int sample(const SampleOptions& options, std::ostream& err) {
  auto host = HostSampler::open({options.proc, options.cgroups, options.pid}, find_gpus(err));
  if (!host) return failed(err, host.error());
  for (const std::string& path : host->missing()) {
    err << "trainwatch sample: cannot read " << path << ", continuing without it\n";
  }
  err.flush();
  MetricsFile file(options.out, options.node.empty() ? this_node() : options.node);
  const LoopLimits limits{options.interval, options.duration, options.pid};
  const Status ended = run_at_interval(limits, [&](Nanos monotonic) {
    const auto now = std::chrono::time_point_cast<Nanos>(std::chrono::system_clock::now());
    return file.write(now, host->tick(monotonic));
  });
  return ended ? 0 : failed(err, ended.error());
}

}  // namespace trainwatch
