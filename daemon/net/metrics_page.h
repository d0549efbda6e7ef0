// SPDX-License-Identifier: Apache-2.0
// The page /metrics: which format a client gets, and the latest page of each.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/net/metrics_writer.h"
#include "trainwatch/snapshot.h"

namespace trainwatch {

// The best format for a client with this Accept header (RFC 9110 q-list); text if it names none of
// ours.
MetricsFormat negotiate(std::string_view accept);

std::string_view content_type(MetricsFormat format);

// The page of some lists, of which several may have points of a family.
using FamilyList = std::span<const MetricFamily>;
std::string render(MetricsFormat format, std::span<const FamilyList> lists);
inline std::string render(MetricsFormat format, FamilyList families) {
  return render(format, std::span(&families, 1));
}

// The latest page of each format. However often it is read, it is rendered and compressed at most
// once in `interval`, so that reading it cannot keep the thread busy.
class RenderedPages {
 public:
  using Clock = std::chrono::steady_clock;
  using Body = std::shared_ptr<const std::string>;

  explicit RenderedPages(Clock::duration interval) : interval_(interval) {}

  // The page of `lists` and of the families that `more` returns; it is called if the last page is
  // too old.
  Body page(MetricsFormat format, bool gzip, Clock::time_point now,
            std::span<const FamilyList> lists, const std::function<MetricFamilies()>& more);

  // Pages that are too old take no memory any more: those of a large job have megabytes.
  void forget_old(Clock::time_point now);

 private:
  struct Page {
    Clock::time_point rendered;
    Body text;  // null: none
  };
  bool is_old(const Page& page, Clock::time_point now) const {
    return !page.text || now - page.rendered >= interval_;
  }

  Clock::duration interval_;
  // By format; plain, compressed.
  std::array<std::array<Page, 2>, static_cast<std::size_t>(MetricsFormat::count_)> pages_;
};

}  // namespace trainwatch
