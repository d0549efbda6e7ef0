// SPDX-License-Identifier: Apache-2.0
#include "daemon/net/metrics_page.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include "daemon/net/accept.h"
#include "pipeline/decode/gzip_stream.h"

namespace trainwatch {
namespace {

const MetricFamily* find_family(FamilyList families, std::string_view name) {
  const auto found = std::ranges::find(families, name, &MetricFamily::name);
  return found == families.end() ? nullptr : &*found;
}

// More than a page takes, so that its text is not moved as it grows: a large one has megabytes.
std::size_t room_for(FamilyList families) {
  constexpr std::size_t kValue = 48;  // with a suffix, "le", what separates labels, and the value
  std::size_t room = 0;
  for (const auto& family : families) {
    room += 2 * family.name.size() + family.help.size() + kValue;
    const std::size_t lines = family.type == MetricType::histogram ? family.bounds.size() + 3 : 1;
    for (const auto& point : family.points) {
      std::size_t line = family.name.size() + kValue;
      for (const auto& [name, value] : point.labels) line += name.size() + value.size();
      room += line * lines;
    }
  }
  return room;
}

std::unique_ptr<MetricsWriter> make_writer(MetricsFormat format, std::string room) {
  return format == MetricsFormat::protobuf ? make_protobuf_writer(std::move(room))
                                           : make_text_writer(format, std::move(room));
}

// How exactly a range names a format, or nothing if it does not: 0 for everything.
std::optional<int> match(const AcceptedRange& range, MetricsFormat format) {
  const auto is = [&range](std::string_view name, std::string_view wanted, bool needed) {
    const std::string_view given = range.parameter(name);
    return given == wanted || (given.empty() && !needed);
  };
  switch (format) {
    case MetricsFormat::protobuf:
      if (range.type == "application/vnd.google.protobuf" &&
          is("proto", "io.prometheus.client.MetricFamily", true) &&
          is("encoding", "delimited", true)) {
        return 2;
      }
      return std::nullopt;
    case MetricsFormat::open_metrics:
      if (range.type == "application/openmetrics-text" && is("version", "1.0.0", false)) return 2;
      return std::nullopt;
    default:
      if (range.type == "text/plain" && is("version", "0.0.4", false)) return 2;
      if (range.type == "text/*") return 1;
      if (range.type == "*/*") return 0;
      return std::nullopt;
  }
}

// What the range that names the format most exactly says.
double quality(const std::vector<AcceptedRange>& ranges, MetricsFormat format) {
  int exactness = -1;
  double found = 0;
  for (const AcceptedRange& range : ranges) {
    const std::optional<int> exact = match(range, format);
    if (!exact || *exact < exactness) continue;
    found = *exact > exactness ? range.quality : std::max(found, range.quality);
    exactness = *exact;
  }
  return found;
}

}  // namespace

MetricsFormat negotiate(std::string_view accept) {
  const auto ranges = parse_accept(accept);
  MetricsFormat best = MetricsFormat::prometheus_text;
  double most = quality(ranges, best);
  for (const auto format : {MetricsFormat::open_metrics, MetricsFormat::protobuf}) {
    const double given = quality(ranges, format);
    if (given <= 0 || given < most) continue;
    most = given;
    best = format;
  }
  return best;
}

std::string_view content_type(MetricsFormat format) {
  switch (format) {
    case MetricsFormat::open_metrics:
      return "application/openmetrics-text; version=1.0.0; charset=utf-8";
    case MetricsFormat::protobuf:
      return "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; "
             "encoding=delimited";
    default:
      return "text/plain; version=0.0.4; charset=utf-8";
  }
}

std::string render(MetricsFormat format, std::span<const FamilyList> lists) {
  std::string room;
  room.reserve(
      std::transform_reduce(lists.begin(), lists.end(), std::size_t{0}, std::plus<>(), room_for));
  const auto writer = make_writer(format, std::move(room));
  const auto write_points = [&writer](const MetricFamily& family) {
    for (const MetricPoint& point : family.points) writer->point(point);
  };
  for (std::size_t i = 0; i < lists.size(); ++i) {
    for (const MetricFamily& family : lists[i]) {
      const auto same_in = [&family](FamilyList list) { return find_family(list, family.name); };
      if (std::ranges::any_of(lists.first(i), same_in)) continue;  // written already
      writer->begin(family);
      write_points(family);
      for (const FamilyList later : lists.subspan(i + 1)) {
        if (const MetricFamily* const same = same_in(later)) write_points(*same);
      }
      writer->end();
    }
  }
  return writer->finish();
}

RenderedPages::Body RenderedPages::page(MetricsFormat format, bool gzip, Clock::time_point now,
                                        std::span<const FamilyList> lists,
                                        const std::function<MetricFamilies()>& more) {
  auto& [plain, small] = pages_[static_cast<std::size_t>(format)];
  Page& wanted = gzip ? small : plain;
  if (!is_old(wanted, now)) return wanted.text;
  wanted.text = nullptr;
  const auto rendered = [&] {
    const MetricFamilies own = more();
    std::vector<FamilyList> all(lists.begin(), lists.end());
    all.emplace_back(own);
    return std::make_shared<const std::string>(render(format, all));
  };
  if (gzip) {
    const bool known = !is_old(plain, now);
    const Body page = known ? plain.text : rendered();
    wanted = {known ? plain.rendered : now,
              std::make_shared<const std::string>(gzip_member(*page, DeflateStream::Effort::fast))};
  } else {
    wanted = {now, rendered()};
  }
  return wanted.text;
}

void RenderedPages::forget_old(Clock::time_point now) {
  for (auto& both : pages_) {
    for (Page& page : both) {
      if (is_old(page, now)) page.text = nullptr;
    }
  }
}

}  // namespace trainwatch
