// SPDX-License-Identifier: Apache-2.0
// Selects the alerts for the headline (headline.h): one per incident.
#pragma once

#include <string>
#include <vector>

#include "pipeline/engine/headline.h"

namespace trainwatch {

// Sorted by cost, stalls first. Each incident in `list` is represented by the alert that speaks for
// it or, if that has ended, by its most severe alert in the list (ties: the most specific one, then
// one that knows its cause), with the ranks of all alerts like it. An alert about one step that
// does not know its cause is replaced by one like it that does. `about_loss`: alerts of rules about
// lost time, or of all other rules.
std::vector<AlertView> reasons(const RunAlerts& alerts, std::vector<AlertView> RunAlerts::*list,
                               bool about_loss, const RunView& run, Time now);

// The id of the alert that speaks for the incident of this one, or of that incident itself.
const std::string& incident_of(const AlertView& view);

}  // namespace trainwatch
