#include "pipeline/state/memory_store.h"

namespace trainwatch {

Result<PublishedAlerts> MemoryStore::commit(std::vector<Alert> alerts) {
  PublishedAlerts published;
  published.reserve(alerts.size());
  for (Alert& alert : alerts) {
    alert.seq = ++last_seq_;
    published.push_back(std::make_shared<const PublishedAlert>(PublishedAlert{
        alert.seq, alert.id, alert.rule, alert.severity, alert.state, to_json(alert, epoch_)}));
  }
  return published;
}

}  // namespace trainwatch
