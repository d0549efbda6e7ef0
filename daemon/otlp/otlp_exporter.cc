// SPDX-License-Identifier: Apache-2.0
#include "daemon/otlp/otlp_exporter.h"

#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "daemon/http_client/retry_after.h"
#include "pipeline/decode/gzip_stream.h"

namespace trainwatch {
namespace {

constexpr std::chrono::seconds kLongestRetryAfter = std::chrono::hours(1);

// A 64-bit integer is a string in this encoding, but some collectors write a number.
std::uint64_t count_of(const simdjson::dom::element& value) {
  std::uint64_t number = 0;
  if (value.get_uint64().get(number) == simdjson::SUCCESS) return number;
  std::string_view text;
  if (value.get_string().get(text) != simdjson::SUCCESS) return 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

std::optional<OtlpRejection> otlp_rejection(std::string_view body) {
  namespace dom = simdjson::dom;
  dom::parser parser;
  dom::element partial;
  if (parser.parse(simdjson::padded_string(body))["partialSuccess"].get(partial) !=
      simdjson::SUCCESS) {
    return std::nullopt;  // empty, or protobuf after all
  }
  OtlpRejection rejection;
  if (dom::element points; partial["rejectedDataPoints"].get(points) == simdjson::SUCCESS)
    rejection.points = count_of(points);
  if (std::string_view why; partial["errorMessage"].get_string().get(why) == simdjson::SUCCESS)
    rejection.why = why;
  if (rejection.points == 0) return std::nullopt;
  return rejection;
}

OtlpExporter::OtlpExporter(boost::asio::io_context& io, HostResolver& resolver, OtlpOptions options,
                           Families more, Logger& log)
    : options_(std::move(options)),
      more_(std::move(more)),
      log_(log),
      client_(io, resolver, options_.http) {}

void OtlpExporter::show(std::shared_ptr<const Snapshot> snapshot, Clock::time_point now) {
  latest_ = std::move(snapshot);
  if (!busy() && latest_->ready && now >= due_) push(now);
}

void OtlpExporter::push_last() {
  last_wanted_ = true;
  if (!busy()) push(Clock::now());
}

void OtlpExporter::push(Clock::time_point now) {
  last_wanted_ = false;
  if (latest_ == nullptr) return;
  due_ = now + options_.interval;
  const auto at = std::chrono::time_point_cast<Nanos>(std::chrono::system_clock::now());
  requests_.emplace(latest_, more_(), options_.resource, Time{at.time_since_epoch()});
  send_next();
}

void OtlpExporter::send_next() {
  const std::optional<std::string> body = requests_->next();
  if (!body) return succeeded();
  client_.post({gzip_member(*body, DeflateStream::Effort::fast),
                "application/json",
                {{"Content-Encoding", "gzip"}}},
               [this](const Result<ReceivedResponse>& response) { answered(response); });
}

void OtlpExporter::answered(const Result<ReceivedResponse>& response) {
  if (!response) return failed(response.error().message, {});
  if (response->status / 100 != 2) {
    const auto wanted = parse_retry_after(response->retry_after, std::chrono::system_clock::now());
    return failed("status " + std::to_string(response->status),
                  wanted.value_or(std::chrono::seconds{}));
  }
  ++counters_.accepted;
  if (const auto rejection = otlp_rejection(response->body)) {
    counters_.points_rejected += rejection->points;
    log_.warn("the OpenTelemetry collector rejected data points",
              {{"points", std::to_string(rejection->points)}, {"reason", rejection->why}});
  }
  send_next();
}

void OtlpExporter::failed(const std::string& why, std::chrono::seconds retry_after) {
  ++counters_.failed;
  if (pause_.count() == 0)
    log_.warn("metrics cannot be pushed to the OpenTelemetry collector; retrying",
              {{"error", why}});
  const std::chrono::milliseconds longest = kLongestPause;
  pause_ = std::clamp(2 * pause_, std::min(options_.interval, longest), longest);
  pause_ = std::max<std::chrono::milliseconds>(pause_, std::min(retry_after, kLongestRetryAfter));
  due_ = Clock::now() + pause_;
  requests_.reset();
  last_wanted_ = false;
}

void OtlpExporter::succeeded() {
  if (std::exchange(pause_, {}).count() != 0)
    log_.info("metrics are pushed to the OpenTelemetry collector again");
  requests_.reset();
  if (last_wanted_) push(Clock::now());
}

}  // namespace trainwatch
