// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <utility>

#include "daemon/app/app_impl.h"
#include "rules/catalog.h"

namespace trainwatch {

Status App::Impl::reload() {
  auto config = load_config(options.config_file, options.flags, rule_catalog());
  reloads.successful = false;
  if (!config.ok()) return config.error();
  if (options.config.receivers.empty() && !config->receivers.empty() && sandboxed) {
    return Error{
        "receivers: the sandbox of a trainwatch that was started without receivers allows "
        "no connections; restart it"};
  }
  if (Status changed = notifier->configure(notifier_options(*config)); !changed) return changed;
  reloads.successful = true;
  reloads.last_success = std::chrono::system_clock::now();
  log->configure(config->log);
  engine->reconfigure(config->enabled_rules());
  if (!set_aside->empty()) {
    set_aside->forget();
    KeptDelivery kept;
    kept.notes[std::string(kSetAsideNote)] = "";
    engine->keep(std::move(kept));
  }
  return success();
}

Status App::Impl::reload_now() {
  service.reloading();
  Status reloaded = reload();
  if (reloaded) {
    log->info("configuration reloaded");
  } else {
    log->error("configuration not reloaded; keeping the old one",
               {{"error", reloaded.error().message}});
  }
  service.ready("watching");
  return reloaded;
}

void App::Impl::access_changed(Result<LoadedAccess> loaded) {
  if (shutting_down) return;
  reloads.web_successful = loaded.ok();
  if (!loaded.ok()) {
    return log->error("web configuration not reloaded; keeping the old one",
                      {{"error", loaded.error().message}});
  }
  reloads.last_success = std::chrono::system_clock::now();
  if (static_cast<bool>(loaded->access->tls) != static_cast<bool>(access.access->tls)) {
    log->warn(loaded->access->tls ? "TLS is on from now on" : "TLS is off from now on");
  }
  log->info("web configuration reloaded", {{"file", options.config.web.config_file}});
  access = std::move(*loaded);
  server->set_access(access.access);
}

}  // namespace trainwatch
