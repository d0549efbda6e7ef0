// SPDX-License-Identifier: Apache-2.0
#include "daemon/notify/notified_alert.h"

#include <simdjson.h>

#include <utility>

#include "pipeline/decode/json_member.h"

namespace trainwatch {

Result<NotifiedAlertPtr> notified_alert(PublishedAlertPtr published) {
  auto shown = shown_alert(published->json);
  if (!shown) return shown.error();
  auto alert = std::make_shared<NotifiedAlert>();
  alert->shown = std::move(*shown);
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (parser.parse(published->json).get(root) != simdjson::SUCCESS) return Error{"not JSON"};
  if (simdjson::dom::element subject; root["subject"].get(subject) == simdjson::SUCCESS) {
    alert->job = text_member(subject, "job");
    alert->node = text_member(subject, "node");
    alert->rank = number_member(subject, "rank");
    alert->ranks = text_member(subject, "ranks");
    alert->gpu = text_member(subject, "gpu");
  }
  if (simdjson::dom::element evidence; root["evidence"].get(evidence) == simdjson::SUCCESS) {
    alert->evidence = simdjson::minify(evidence);
  }
  alert->runbook = text_member(root, "runbook");
  alert->published = std::move(published);
  return NotifiedAlertPtr(std::move(alert));
}

}  // namespace trainwatch
