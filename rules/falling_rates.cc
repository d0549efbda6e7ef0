// SPDX-License-Identifier: Apache-2.0
#include "rules/falling_rates.h"

#include "rules/format.h"
#include "trainwatch/json_writer.h"

namespace trainwatch {
namespace {

bool is_rate(ScalarKind kind) {
  return kind == ScalarKind::samples_per_second || kind == ScalarKind::tokens_per_second;
}

}  // namespace

bool FallingRates::Rate::possible() const {
  return ScalarTrack::possible() && is_rate(kind) && below_step >= kNoStep &&
         is_possible(below_since) && better < kSure;
}

void FallingRates::Rate::state(StateIo& io) {
  ScalarTrack::state(io);
  io(kind);
  io(usual);
  io(recent);
  io(below);
  io(below_step);
  io(below_since);
  io(better);
}

void FallingRates::state(StateIo& io) {
  io(rates_);
  io(record_);
  io(evaluates_);
  const bool possible =
      rates_.size() <= kMostTags && record_.size() <= kMostTags &&
      std::ranges::all_of(rates_, [](const Rate& rate) { return rate.possible(); }) &&
      std::ranges::all_of(record_, [](const Value& value) { return is_rate(value.kind); });
  if (!possible) io.fail();
}

// A record that has a loss of an evaluation has its rate, too, so that it is judged as a whole.
void FallingRates::on(const Scalar& scalar, const Durations& durations, Verdicts& out) {
  if (is_rate(scalar.kind) && record_.size() < kMostTags)
    record_.push_back({scalar.tag, scalar.kind, scalar.value});
  evaluates_ = evaluates_ || scalar.kind == ScalarKind::validation_loss;
  if (!scalar.ends_record) return;
  for (const Value& value : record_) {
    if (!evaluates_) take(scalar, value, durations, out);
  }
  record_.clear();
  evaluates_ = false;
}

void FallingRates::end(Time at, Verdicts& out) {
  for (Rate& rate : rates_) rate.clear(at, interner_, out);
}

void FallingRates::restart(Time at, Verdicts& out) {
  for (Rate& rate : rates_) {
    if (rate.open) rate.begin_attempt(at, out);
    rate.forget();
  }
}

// Longer sequences are fewer samples and as many tokens.
bool FallingRates::counts(const Rate& rate) const {
  return rate.kind == ScalarKind::tokens_per_second ||
         std::ranges::none_of(
             rates_, [](const Rate& other) { return other.kind == ScalarKind::tokens_per_second; });
}

// `scalar`: the last of the record, which has its time and its step
void FallingRates::take(const Scalar& scalar, const Value& value, const Durations& durations,
                        Verdicts& out) {
  Rate* const rate = track_of(rates_, value.tag, kMostTags);
  if (rate == nullptr) return;
  rate->kind = value.kind;
  if (rate->goes_back(scalar)) {
    rate->begin_attempt(scalar.at, out);
    rate->forget();
  }
  rate->advance(scalar);
  if (!(value.value >= 0) || !rate->recent.push(value.value)) return;
  judge(*rate, scalar, value.value, durations, out);
}

void FallingRates::judge(Rate& rate, const Scalar& scalar, double value, const Durations& durations,
                         Verdicts& out) {
  if (rate.open) {
    if (durations.reported) return rate.clear(scalar.at, interner_, out);
    return go_on(rate, scalar, value, out);
  }
  const bool falls = rate.usual.size() > 0 && value * kRatio <= rate.usual.median();
  const bool known = rate.usual.size() >= kLeastUsual;
  if (!known || !falls) {
    if (falls) rate.usual = RollingMedianMad{kUsual};
    rate.below = 0;
    rate.usual.push(value);
    return;
  }
  if (++rate.below == 1) {
    rate.below_step = scalar.step;
    rate.below_since = scalar.at;
  }
  const bool sure = rate.below >= (durations.known ? kPatient : kSure);
  if (!sure || durations.reported || !counts(rate)) return;
  if (std::ranges::any_of(rates_, [](const Rate& other) { return other.open; })) return;
  rate.open = true;
  rate.better = 0;
  fire(rate, scalar, out);
}

// Its alert is open.
void FallingRates::go_on(Rate& rate, const Scalar& scalar, double value, Verdicts& out) {
  const bool better = value * kBetter > rate.usual.median();
  rate.better = better ? rate.better + 1 : 0;
  ++rate.below;
  if (rate.better < kSure) return fire(rate, scalar, out);
  rate.below = rate.better = 0;
  rate.clear(scalar.at, interner_, out);
}

void FallingRates::fire(const Rate& rate, const Scalar& scalar, Verdicts& out) const {
  const std::string key = rate.key(interner_);
  out.fires({.key = key, .at = scalar.at, .figure = rate.recent.median()},
            [&] { return describe(rate, scalar); });
}

Verdict FallingRates::describe(const Rate& rate, const Scalar& scalar) const {
  const std::string name(interner_.text(rate.tag));
  const double before = rate.usual.median();
  const double now = rate.recent.median();
  const double slower = before / std::max(now, 1e-3 * before);
  const std::string what = rate.kind == ScalarKind::tokens_per_second ? "tokens" : "samples";
  Verdict verdict;
  verdict.since = rate.below_since;
  verdict.by_step = true;
  verdict.step = rate.below_step;
  verdict.value = now;
  verdict.threshold = before / kRatio;
  verdict.baseline = before;
  verdict.summary =
      "Training is " + format::figure(slower) + "x slower" +
      (rate.below_step == kNoStep ? std::string()
                                  : " since step " + std::to_string(rate.below_step)) +
      ", by what it logs: " + format::figure(now) + " " + what + " per second instead of " +
      format::figure(before) + " (" + format::cut(name, 80) + ").";
  JsonWriter json;
  json.begin_object()
      .field("tag", name)
      .field("kind", to_string(rate.kind))
      .field("rate", now)
      .field("before_rate", before)
      .field("slowdown", slower)
      .field("records", rate.below);
  if (rate.below_step != kNoStep) json.field("since_step", rate.below_step);
  if (scalar.step != kNoStep) json.field("latest_step", scalar.step);
  verdict.evidence = json.end_object().take();
  verdict.next =
      "Compare the node with the time before: other processes, storage, GPU clocks and "
      "temperature, network; and what the training changed at that step.";
  return verdict;
}

}  // namespace trainwatch
