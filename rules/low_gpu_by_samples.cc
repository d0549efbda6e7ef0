// SPDX-License-Identifier: Apache-2.0
#include "rules/low_gpu_by_samples.h"

#include "rules/format.h"
#include "trainwatch/json_writer.h"

namespace trainwatch::low_gpu_utilization {

void LowGpuBySamples::on_sample(const Sample& sample, Verdicts& out) {
  if (!recent_.push(sample.value)) return;
  ++seen_;
  if (warming()) return;
  const Reason now = reason();
  if (now == Reason::none) return out.clear_all(sample.at);
  const std::uint64_t held = out.firings(name_of(now)) + 1;
  out.fires({.key = name_of(now),
             .at = sample.at,
             .amount = std::max(held, static_cast<std::uint64_t>(params_.window)),
             .figure = value(now)},
            [&] { return describe(now, held); });
}

Reason LowGpuBySamples::reason() const {
  const double high = p95();
  if (high < params_.threshold_p95) return Reason::under_utilised;
  if (high > params_.threshold_p95 && p5() < params_.threshold_p5) return Reason::fluctuating;
  return Reason::none;
}

std::string LowGpuBySamples::summary(Reason reason) const {
  const std::string samples = std::to_string(recent_.size()) + " samples";
  if (reason == Reason::fluctuating) {
    return "GPU utilisation fluctuates: in the last " + samples + " its 5th percentile is " +
           format::percent(p5()) + " while its 95th is " + format::percent(p95()) + ".";
  }
  return "GPU utilisation is low: 95 % of the last " + samples + " are below " +
         format::percent(p95()) + ", the median is " + format::percent(recent_.median()) + ".";
}

Verdict LowGpuBySamples::describe(Reason reason, std::uint64_t held) const {
  const bool fluctuating = reason == Reason::fluctuating;
  Verdict verdict;
  verdict.value = value(reason);
  verdict.threshold = fluctuating ? params_.threshold_p5 : params_.threshold_p95;
  verdict.unit = "percent";
  verdict.summary = summary(reason);
  verdict.evidence = JsonWriter{}
                         .begin_object()
                         .field("reason", name_of(reason))
                         .field("p95", p95())
                         .field("p50", recent_.median())
                         .field("p5", p5())
                         .field("window_samples", recent_.size())
                         .field("samples_seen", seen_)
                         .field("samples_in_condition", held)
                         .end_object()
                         .take();
  verdict.next = advice_for(reason);
  return verdict;
}

}  // namespace trainwatch::low_gpu_utilization
