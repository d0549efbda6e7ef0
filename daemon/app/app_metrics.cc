#include "daemon/app/app_metrics.h"

#include "daemon/version.h"

namespace trainwatch {

void app_metrics(const ReloadState& reloads, std::vector<MetricFamily>& out) {
  const auto gauge = [&](std::string name, std::string help, Labels labels, double value) {
    out.push_back({std::move(name),
                   std::move(help),
                   MetricType::gauge,
                   {},
                   {{std::move(labels), value, {}, 0}}});
  };
  gauge("trainwatch_build_info", "Version of this trainwatch; always 1.",
        {{"version", std::string(version())},
         {"revision", std::string(version_revision())},
         {"compiler", version_compiler()}},
        1);
  gauge("trainwatch_config_last_reload_successful",
        "1 if the last reload of the configuration succeeded.", {}, reloads.successful ? 1 : 0);
  gauge("trainwatch_config_last_reload_success_timestamp_seconds",
        "Unix time of the last successful reload of the configuration.", {},
        std::chrono::duration<double>(reloads.last_success.time_since_epoch()).count());
}

}  // namespace trainwatch
