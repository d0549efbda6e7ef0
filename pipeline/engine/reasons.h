// Which alerts the sentence on top (headline.h) speaks of: one for each incident.
#pragma once

#include <string>
#include <vector>

#include "pipeline/engine/headline.h"

namespace trainwatch {

// The most expensive first, a stall before all others. Of each incident in `list` the alert that
// speaks for it. Where that one is over, the most severe of those in the list, among these the most
// specific, and among these one that knows its cause: with the ranks of all that are like it. If
// it is about one step and does not know why, another one that is like it and does stands for it.
// `about_loss`: alerts of rules about lost time, or of all others.
std::vector<AlertView> reasons(const RunAlerts& alerts, std::vector<AlertView> RunAlerts::*list,
                               bool about_loss, const RunView& run, Time now);

// The id of the alert that speaks for the incident of this one, or of that incident itself.
const std::string& incident_of(const AlertView& view);

}  // namespace trainwatch
