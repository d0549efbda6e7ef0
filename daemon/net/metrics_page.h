// Formats metric families as the two text formats of Prometheus.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trainwatch/snapshot.h"

namespace trainwatch {

enum class MetricsFormat : std::uint8_t { prometheus_text, open_metrics };

// The best format for a client with this Accept header (RFC 9110 q-list); text if it names none of
// ours.
MetricsFormat negotiate(std::string_view accept);

std::string_view content_type(MetricsFormat format);

// The page of both lists, which may both have points of a family.
std::string render(MetricsFormat format, std::span<const MetricFamily> families,
                   std::span<const MetricFamily> more = {});

// The latest page of each format. However often it is read, it is rendered at most once in
// `interval`, so that reading it cannot keep the thread busy.
class RenderedPages {
 public:
  using Clock = std::chrono::steady_clock;

  explicit RenderedPages(Clock::duration interval) : interval_(interval) {}

  // The page of `families` and of those that `more` returns; it is called if the last page is too
  // old.
  std::shared_ptr<const std::string> page(MetricsFormat format, Clock::time_point now,
                                          std::span<const MetricFamily> families,
                                          const std::function<std::vector<MetricFamily>()>& more);

  // Pages that are too old take no memory any more: those of a large job have megabytes.
  void forget_old(Clock::time_point now);

 private:
  struct Page {
    Clock::time_point rendered;
    std::shared_ptr<const std::string> text;  // null: none
  };
  bool is_old(const Page& page, Clock::time_point now) const {
    return now - page.rendered >= interval_;
  }

  Clock::duration interval_;
  std::array<Page, 2> pages_;  // by format
};

}  // namespace trainwatch
