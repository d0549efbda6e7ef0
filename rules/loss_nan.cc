// SPDX-License-Identifier: Apache-2.0
// A loss or a gradient norm is not a finite number; see docs/rules/loss_nan.md.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rules/format.h"
#include "rules/scalar_track.h"
#include "rules/vanished_tag.h"
#include "trainwatch/json_writer.h"
#include "trainwatch/rule.h"

namespace trainwatch::loss_nan {
namespace {

constexpr std::size_t kMostTags = 32;  // of a subject; further ones are not judged
constexpr std::int64_t kRecovery = 3;  // records in a row that are finite
// A gradient norm that is not finite while the loss is belongs to a step that mixed precision
// skips: one is usual, several in a row or one in ten are not.
constexpr std::uint64_t kSkippedInARow = 5;
constexpr double kOften = 0.1;              // of the records,
constexpr double kOftenWeight = 1.0 / 50;   // the newer ones count more
constexpr std::int64_t kSkipsAreOne = 400;  // finite records that end an alert about skipped steps

constexpr std::string_view kNextForSkips =
    "No action is needed while this is rare: the loss scale is lowered until the gradients are "
    "finite. If it persists, look for overflow in half precision, or train in bfloat16.";
constexpr std::string_view kNextForBatches =
    "Look at the batches of these steps: samples without labels, empty masks, divisions by zero. "
    "If the optimizer takes these steps, the next one may ruin the weights.";
constexpr std::string_view kNextForRuin =
    "Stop the job and restart it from a checkpoint written before the first such step; look for a "
    "learning rate that is too high, bad samples, divisions by zero and overflow in half precision "
    "(torch.autograd.detect_anomaly finds the operation).";

struct Params {
  std::int64_t skipped_steps = 20;
};

bool is_judged(ScalarKind kind) {
  return kind == ScalarKind::loss || kind == ScalarKind::grad_norm || kind == ScalarKind::nan_steps;
}

// What a tag has said so far.
struct Tag : ScalarTrack {
  bool is_loss = false;
  std::uint64_t records = 0;
  std::uint64_t in_a_row = 0;  // records that are not finite, up to the latest
  std::uint64_t bad = 0;       // the same since the alert opened
  double bad_share = 0;        // of the records
  bool came_back = false;      // to finite values, so the weights were not ruined
  std::int64_t bad_step = kNoStep;
  Time bad_since = kNoTime;
  std::int64_t good_step = kNoStep;
  double good = std::numeric_limits<double>::quiet_NaN();  // the last finite value
  VanishedTag presence;                                    // of a loss
  bool first_is_bad = false;  // its first value, of the record that is being read
  double first = 0;

  bool possible() const {
    return ScalarTrack::possible() && bad_step >= kNoStep && good_step >= kNoStep &&
           is_possible(bad_since) && in_a_row <= records && bad <= records && bad_share >= 0 &&
           bad_share <= 1 && presence.possible();
  }
  void state(StateIo& io) {
    ScalarTrack::state(io);
    io(is_loss);
    io(records);
    io(in_a_row);
    io(bad);
    io(bad_share);
    io(came_back);
    io(bad_step);
    io(bad_since);
    io(good_step);
    io(good);
    io(presence);
    io(first_is_bad);
    io(first);
  }
};

std::string_view name_of(ScalarKind kind) {
  if (kind == ScalarKind::grad_norm) return "The gradient norm";
  return "The loss";
}

std::string_view text_of(double value) {
  if (std::isnan(value)) return "NaN";
  return value > 0 ? "infinite" : "minus infinity";
}

class LossNan final : public Rule {
 public:
  LossNan(const Params& params, const RuleContext& context)
      : params_(params), interner_(context.interner) {}

  void on_scalar(const Scalar& scalar, Verdicts& out) override {
    if (scalar.kind == ScalarKind::loss_scale) scaled_ = scaled_ || scalar.value > 1;
    if (is_judged(scalar.kind)) judge(scalar, out);
    if (!record_.add(scalar)) return;
    for (Tag& tag : tags_) judge_first(tag, scalar, out);
    for (Tag& tag : tags_) end_record(tag, scalar, out);
    record_.begin_next();
  }

  void judge(const Scalar& scalar, Verdicts& out) {
    Tag* const tag = track_of(tags_, scalar.tag, kMostTags);
    if (tag == nullptr) return;
    tag->is_loss = scalar.kind == ScalarKind::loss;
    if (tag->goes_back(scalar)) restart(*tag, scalar, out);
    tag->advance(scalar);
    ++tag->records;
    tag->bad_share *= 1 - kOftenWeight;
    const bool counts = scalar.kind == ScalarKind::nan_steps;
    const bool bad = counts ? scalar.value > 0 : !std::isfinite(scalar.value);
    bad ? on_bad(*tag, scalar, out) : on_good(*tag, scalar, out);
  }

  void state(StateIo& io) override {
    io(tags_);
    io(scaled_);
    io(record_);
    if (tags_.size() > kMostTags ||
        !std::ranges::all_of(tags_, [](const Tag& tag) { return tag.possible(); })) {
      io.fail();
    }
  }
  // Updates come when the number of records has doubled.
  Lifecycle lifecycle() const override {
    return {.recover_after = kRecovery,
            .change = Lifecycle::Change::rise,
            .min_change = Lifecycle::kNeverByFigure};
  }
  bool warming() const override { return tags_.empty(); }
  std::vector<std::string_view> missing() const override {
    if (!tags_.empty()) return {};
    return {"loss"};
  }

 private:
  static void restart(Tag& tag, const Scalar& scalar, Verdicts& out) {
    tag.open = tag.open || tag.presence.is_missing();
    tag.presence.restart();
    tag.begin_attempt(scalar.at, out);
    tag.records = tag.in_a_row = tag.bad = 0;
    tag.came_back = false;
    tag.good_step = kNoStep;
    tag.good = std::numeric_limits<double>::quiet_NaN();
  }

  // With a loss scale, steps whose gradients overflow are skipped and do no harm. The scale may
  // come behind the norm of the same record, so that the first norm is not judged alone.
  std::uint64_t needed(const Tag& tag, ScalarKind kind) const {
    if (kind != ScalarKind::grad_norm) return 1;
    // At the beginning, mixed precision searches for a loss scale.
    const bool begins = tag.records == tag.in_a_row && loss_is_finite();
    if (scaled_ || begins) return static_cast<std::uint64_t>(params_.skipped_steps) + 1;
    return tag.records == tag.in_a_row ? 2 : 1;
  }

  // A part of the loss that has never been finite, while another loss is, is not used.
  bool is_unused(const Tag& tag) const {
    return tag.is_loss && !tag.open && std::isnan(tag.good) &&
           std::ranges::any_of(tags_, [&tag](const Tag& other) {
             return &other != &tag && other.is_loss && other.records > 0 && other.in_a_row == 0;
           });
  }

  // Of its first record: all of that is known.
  void judge_first(Tag& tag, const Scalar& scalar, Verdicts& out) const {
    if (!std::exchange(tag.first_is_bad, false)) return;
    --tag.in_a_row;
    Scalar said = scalar;
    said.kind = ScalarKind::loss;
    said.value = tag.first;
    said.tag = tag.tag;
    on_bad(tag, said, out);
  }

  void on_bad(Tag& tag, const Scalar& scalar, Verdicts& out) const {
    ++tag.in_a_row;
    tag.bad_share += kOftenWeight;
    if (is_unused(tag)) return;
    if (tag.is_loss && tag.records == 1 && !scalar.ends_record) {
      tag.first_is_bad = true;
      tag.first = scalar.value;
      return;
    }
    if (!tag.open) {
      if (tag.in_a_row == 1) {
        tag.bad_step = scalar.step;
        tag.bad_since = scalar.at;
        tag.bad = 0;
      }
      tag.bad = std::max(tag.bad + 1, tag.in_a_row);
      if (tag.in_a_row < needed(tag, scalar.kind)) return;
    } else {
      ++tag.bad;
    }
    tag.open = true;
    const std::string key = tag.key(interner_);
    const Severity severity = severity_of(tag, scalar);
    out.fires({.key = key,
               .at = scalar.at,
               .severity = severity,
               .amount = tag.bad,
               .recover_after = severity == Severity::critical ? 0 : kSkipsAreOne},
              [&] { return describe(tag, scalar); });
  }

  Severity severity_of(const Tag& tag, const Scalar& scalar) const {
    if (tag.is_loss) return comes_and_goes(tag) ? Severity::warning : Severity::critical;
    if (scalar.kind == ScalarKind::grad_norm && tag.in_a_row < kSkippedInARow && loss_is_finite()) {
      return tag.bad_share >= kOften ? Severity::warning : Severity::info;
    }
    return scalar.guessed ? Severity::warning : Severity::critical;
  }
  bool loss_is_finite() const {
    return std::ranges::any_of(tags_, [](const Tag& tag) {
      return tag.is_loss && tag.records > 0 && tag.in_a_row == 0 && !tag.presence.is_missing();
    });
  }

  // Some batches lack the loss. If an update had made the weights NaN, the loss would stay NaN.
  bool comes_and_goes(const Tag& tag) const {
    return tag.is_loss && tag.came_back && (tag.in_a_row < kSkippedInARow || loss_is_finite());
  }

  void on_good(Tag& tag, const Scalar& scalar, Verdicts& out) const {
    tag.in_a_row = 0;
    tag.good = scalar.value;
    tag.good_step = scalar.step;
    const bool was_open = tag.open;
    tag.clear(scalar.at, interner_, out);
    tag.came_back = tag.came_back || (was_open && !tag.open);
  }

  // Whether the record that ends with this scalar lacks the loss.
  void end_record(Tag& tag, const Scalar& scalar, Verdicts& out) const {
    if (!tag.is_loss || scalar.step == kNoStep) return;
    VanishedTag& presence = tag.presence;
    const std::string key = presence.is_missing() ? vanished_key(tag) : std::string{};
    if (record_.has(tag.tag)) {
      if (presence.is_missing()) out.clear(key, scalar.at);
      return presence.has(record_, tag.tag, scalar.step);
    }
    if (scalar.step < presence.latest() && !record_.has_loss() && presence.is_missing()) {
      return restart(tag, scalar, out);
    }
    if (!presence.lacks(record_, scalar.step, scalar.at)) return;
    out.fires({.key = vanished_key(tag),
               .at = scalar.at,
               .amount = presence.missing(),
               .recover_after = 1},
              [&] { return describe_vanished(tag); });
  }
  std::string vanished_key(const Tag& tag) const { return tag.key(interner_) + " is not logged"; }

  Verdict describe(const Tag& tag, const Scalar& scalar) const;
  Verdict describe_vanished(const Tag& tag) const;

  Params params_;
  const Interner& interner_;
  std::vector<Tag> tags_;
  CurrentRecord record_;
  bool scaled_ = false;  // a loss scale above 1 was seen
};

Verdict LossNan::describe(const Tag& tag, const Scalar& scalar) const {
  const bool counts = scalar.kind == ScalarKind::nan_steps;
  const std::string name(interner_.text(tag.tag));
  const std::string what(name_of(scalar.kind));
  Verdict verdict;
  verdict.since = tag.bad_since;
  verdict.by_step = true;
  verdict.step = tag.bad_step;
  verdict.value = scalar.value;
  verdict.unit = counts ? "steps" : "";
  const std::string begun =
      tag.bad_step == kNoStep ? "" : " since step " + std::to_string(tag.bad_step);
  const bool again = comes_and_goes(tag);
  const bool skipped =
      severity_of(tag, scalar) < Severity::critical && !tag.is_loss && !counts && loss_is_finite();
  if (skipped || again) {
    verdict.summary = what + " was " + std::string(text_of(scalar.value)) + " in " +
                      std::to_string(tag.bad) + (tag.bad == 1 ? " record" : " records") + begun +
                      " (" + format::cut(name, 80) + ")" +
                      (skipped ? ", and the loss is finite: steps that mixed precision skips."
                       : tag.bad == 1 ? "; it was finite again the last time."
                                      : "; it was finite again each time.");
  } else if (counts) {
    verdict.summary = "The job reports steps whose loss is NaN" + begun + " (" +
                      format::cut(name, 80) + " = " + format::figure(scalar.value) + ").";
  } else {
    verdict.summary = what + " is " + std::string(text_of(scalar.value)) + begun + " (" +
                      format::cut(name, 80) + ")";
    if (std::isfinite(tag.good)) {
      verdict.summary += "; the last finite value was " + format::figure(tag.good);
      if (tag.good_step != kNoStep) {
        verdict.summary += ", at step " + std::to_string(tag.good_step);
      }
    }
    verdict.summary += ".";
  }
  JsonWriter evidence;
  evidence.begin_object()
      .field("tag", name)
      .field("kind", to_string(scalar.kind))
      .field("value", counts ? format::figure(scalar.value) : std::string(text_of(scalar.value)))
      .field("records", tag.bad);
  if (tag.bad_step != kNoStep) evidence.field("first_step", tag.bad_step);
  if (scalar.step != kNoStep) evidence.field("latest_step", scalar.step);
  if (!counts && std::isfinite(tag.good)) evidence.field("last_finite", tag.good);
  if (!counts && tag.good_step != kNoStep) evidence.field("last_finite_step", tag.good_step);
  verdict.evidence = evidence.end_object().take();
  verdict.next = skipped ? kNextForSkips : again ? kNextForBatches : kNextForRuin;
  return verdict;
}

Verdict LossNan::describe_vanished(const Tag& tag) const {
  const std::string name(interner_.text(tag.tag));
  const VanishedTag& presence = tag.presence;
  Verdict verdict;
  verdict.since = presence.since();
  verdict.by_step = true;
  verdict.step = presence.since_step();
  verdict.value = static_cast<double>(presence.missing());
  verdict.unit = "records";
  verdict.summary = "The loss is not logged any more since step " +
                    std::to_string(presence.since_step()) + " (" + format::cut(name, 80) + ")";
  if (std::isfinite(tag.good)) {
    verdict.summary += "; the last value was " + format::figure(tag.good) + ", at step " +
                       std::to_string(tag.good_step);
  }
  verdict.summary += ".";
  JsonWriter evidence;
  evidence.begin_object()
      .field("tag", name)
      .field("records_without", presence.missing())
      .field("first_step", presence.since_step())
      .field("latest_step", presence.latest());
  if (std::isfinite(tag.good)) {
    evidence.field("last_finite", tag.good).field("last_finite_step", tag.good_step);
  }
  verdict.evidence = evidence.end_object().take();
  verdict.next =
      "It is probably not finite: some programs, Megatron-LM among them, print no loss then. Print "
      "it, or the gradient norm, and restart from a checkpoint written before this step.";
  return verdict;
}

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = [] {
    RuleSpec made = make_spec<LossNan, Params>(
        {.id = "loss_nan",
         .version = 3,
         .scope = Scope::rank,
         .summary = "A loss or a gradient norm that the job logs is NaN or infinite.",
         .doc = "The first logged loss or gradient norm that is not a finite number, or a count of "
                "steps with NaN above 0. A gradient norm that overflows under a loss scale belongs "
                "to a step that is skipped, and counts only after many in a row. While the loss is "
                "finite, a single such norm is info, and one in ten is a warning. A warning also "
                "says that "
                "a loss which was in every record is in none any more."},
        {field("skipped_steps", &Params::skipped_steps, 0, 100000,
               "With a loss scale, so many gradient norms in a row may be infinite or NaN.")});
    made.trusts_guesses = true;
    return made;
  }();
  return spec;
}

}  // namespace trainwatch::loss_nan
