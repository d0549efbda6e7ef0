// Formats metric families as the two text formats of Prometheus.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "trainwatch/snapshot.h"

namespace trainwatch {

enum class MetricsFormat : std::uint8_t { prometheus_text, open_metrics };

// The best format for a client with this Accept header (RFC 9110 q-list); text if it names none of
// ours.
MetricsFormat negotiate(std::string_view accept);

std::string_view content_type(MetricsFormat format);

std::string render(MetricsFormat format, std::span<const MetricFamily> families);

}  // namespace trainwatch
