// SPDX-License-Identifier: Apache-2.0
// The loss is far above its recent values; see docs/rules/loss_spike.md.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rules/format.h"
#include "rules/scalar_track.h"
#include "trainwatch/json_writer.h"
#include "trainwatch/ring_queue.h"
#include "trainwatch/rule.h"
#include "trainwatch/stats/median.h"

namespace trainwatch::loss_spike {
namespace {

constexpr std::size_t kMostTags = 8;   // of a subject; further ones are not judged
constexpr std::size_t kWindow = 200;   // records
constexpr std::int64_t kRecovery = 3;  // records in a row that are as before
// Of the highest usual loss of the attempt: a loss that has all but vanished rises by large factors
// and means nothing by it.
constexpr double kNegligible = 1e-4;
constexpr double kChange = 1.5;  // factor of the loss that is worth an update
// A loss is normal for the job if so many of the last records were about as high without an alert,
// for example in batches of another task. Then only a run of them that chance does not explain is a
// spike.
constexpr std::size_t kHighKept = 500;
constexpr std::ptrdiff_t kHabit = 4;
constexpr std::uint64_t kHabitRecords = 500;
constexpr double kAsHigh = 1.25;       // times one of them: the lowest of the run
constexpr double kLeastChance = 1e-3;  // of such a run in kHabitRecords

struct Params {
  double sigma = 8;
  double min_rise = 0.5;
  std::int64_t confirm = 3;
  std::int64_t warmup = 50;
};

struct High {
  std::uint64_t record = 0;
  double value = 0;
  void state(StateIo& io) {
    io(record);
    io(value);
  }
};

struct Tag : ScalarTrack {
  RollingMedianMad usual{kWindow};
  std::uint64_t records = 0;
  double lowest_above = 0;  // of the records in a row above the limit
  RingQueue<High> high;     // records above the limit, the oldest first
  double highest = 0;       // usual loss of the attempt
  std::uint64_t above = 0;  // records in a row above the limit, up to the latest
  std::int64_t above_step = kNoStep;
  Time above_since = kNoTime;

  bool possible() const {
    return ScalarTrack::possible() && above <= kWindow && above_step >= kNoStep &&
           is_possible(above_since) && highest >= 0 && high.size() <= kHighKept;
  }
  void state(StateIo& io) {
    ScalarTrack::state(io);
    io(usual);
    io(highest);
    io(above);
    io(above_step);
    io(above_since);
    io(records);
    io(lowest_above);
    io(high);
  }

  // Whether the loss is often as high as in these records in a row, and they may be so by chance.
  bool is_habit() const {
    const std::uint64_t until = records - above;
    const auto is_recent = [&](const High& one) {
      return one.record <= until && until - one.record < kHabitRecords;
    };
    const auto is_like = [&](const High& one) {
      return is_recent(one) && lowest_above <= kAsHigh * one.value;
    };
    const auto usual_ones = static_cast<std::ptrdiff_t>(usual_from(lowest_above / kAsHigh));
    if (std::ranges::count_if(high, is_like) + usual_ones < kHabit) return false;
    const auto often = static_cast<double>(std::ranges::count_if(high, is_recent) + usual_ones);
    const auto all = static_cast<double>(std::min(until, kHabitRecords));
    return kHabitRecords * std::pow(often / all, static_cast<double>(above)) >= kLeastChance;
  }
  // Of the usual records, those that were at least so high: where two kinds are as frequent, the
  // spread is large.
  std::size_t usual_from(double least) const {
    std::size_t low = 0;
    for (std::size_t end = usual.size(); low < end;) {
      const std::size_t middle = (low + end) / 2;
      if (usual.at_rank(middle) < least) {
        low = middle + 1;
      } else {
        end = middle;
      }
    }
    return usual.size() - low;
  }
  void add_above(double value) {
    lowest_above = above == 1 ? value : std::min(lowest_above, value);
    if (open) return;
    if (high.size() == kHighKept) high.pop_front();
    high.push_back({records, value}, kHighKept);
  }
};

class LossSpike final : public Rule {
 public:
  LossSpike(const Params& params, const RuleContext& context)
      : params_(params), interner_(context.interner) {}

  void on_scalar(const Scalar& scalar, Verdicts& out) override {
    if (scalar.kind == ScalarKind::learning_rate) return on_learning_rate(scalar);
    if (scalar.kind != ScalarKind::loss) return;
    Tag* const tag = track_of(tags_, scalar.tag, kMostTags);
    if (tag == nullptr) return;
    if (tag->goes_back(scalar)) restart(*tag, scalar, out);
    tag->advance(scalar);
    if (!(std::fabs(scalar.value) <= RollingMedianMad::kFarthest)) return;  // see loss_nan
    judge(*tag, scalar, out);
  }

  void state(StateIo& io) override {
    io(tags_);
    io(rate_);
    io(rate_rises_);
    if (tags_.size() > kMostTags || !(rate_ >= 0) ||
        !std::ranges::all_of(tags_, [](const Tag& tag) { return tag.possible(); })) {
      io.fail();
    }
  }
  Lifecycle lifecycle() const override {
    return {.recover_after = kRecovery, .change = Lifecycle::Change::factor, .min_change = kChange};
  }
  bool warming() const override {
    return std::ranges::none_of(tags_, [this](const Tag& tag) { return enough(tag); });
  }
  std::vector<std::string_view> missing() const override {
    if (!tags_.empty()) return {};
    return {"loss"};
  }

 private:
  struct Limit {
    double median = 0;
    double spread = 0;  // standard deviation, from the MAD
    double value = 0;
  };

  // While the learning rate rises from record to record, as it does in the beginning, a loss may
  // rise, too.
  void on_learning_rate(const Scalar& scalar) {
    if (!(scalar.value >= 0) || std::isinf(scalar.value)) return;
    rate_rises_ = scalar.value > rate_;
    rate_ = scalar.value;
  }

  bool enough(const Tag& tag) const {
    return tag.usual.size() >=
           std::min<std::size_t>(static_cast<std::size_t>(params_.warmup), kWindow);
  }

  static void restart(Tag& tag, const Scalar& scalar, Verdicts& out) {
    tag.begin_attempt(scalar.at, out);
    tag.highest = 0;
    forget(tag);
  }
  static void forget(Tag& tag) {
    tag.usual = RollingMedianMad{kWindow};
    tag.above = 0;
  }

  Limit limit_of(const Tag& tag) const;
  void judge(Tag& tag, const Scalar& scalar, Verdicts& out);
  Verdict describe(const Tag& tag, const Scalar& scalar, const Limit& limit) const;

  Params params_;
  const Interner& interner_;
  std::vector<Tag> tags_;
  double rate_ = 0;
  bool rate_rises_ = false;
};

LossSpike::Limit LossSpike::limit_of(const Tag& tag) const {
  Limit limit;
  limit.median = tag.usual.median();
  limit.spread = kSigmaPerMad * tag.usual.mad();
  limit.value = limit.median +
                std::max({params_.sigma * limit.spread, params_.min_rise * std::fabs(limit.median),
                          kNegligible * tag.highest});
  return limit;
}

void LossSpike::judge(Tag& tag, const Scalar& scalar, Verdicts& out) {
  const Limit limit = enough(tag) ? limit_of(tag) : Limit{};
  ++tag.records;
  if (!enough(tag) || scalar.value <= limit.value) {
    tag.above = 0;
    tag.usual.push(scalar.value);
    tag.highest = std::max(tag.highest, std::fabs(scalar.value));
    return tag.clear(scalar.at, interner_, out);
  }
  if (tag.above == 0) {
    tag.above_step = scalar.step;
    tag.above_since = scalar.at;
  }
  if (++tag.above > kWindow) {  // what it has been for so long is usual now
    forget(tag);
    return tag.clear(scalar.at, interner_, out);
  }
  tag.add_above(scalar.value);
  const bool confirmed = !rate_rises_ && tag.above >= static_cast<std::uint64_t>(params_.confirm);
  if (!tag.open && (!confirmed || tag.is_habit())) return;
  tag.open = true;
  const std::string key = tag.key(interner_);
  out.fires({.key = key, .at = scalar.at, .figure = scalar.value},
            [&] { return describe(tag, scalar, limit); });
}

Verdict LossSpike::describe(const Tag& tag, const Scalar& scalar, const Limit& limit) const {
  const std::string name(interner_.text(tag.tag));
  Verdict verdict;
  verdict.since = tag.above_since;
  verdict.by_step = true;
  verdict.step = tag.above_step;
  verdict.value = scalar.value;
  verdict.threshold = limit.value;
  verdict.baseline = limit.median;
  verdict.summary = "The loss (" + format::cut(name, 80) + ") is " + format::figure(scalar.value) +
                    "; it was " + format::figure(limit.median) + " in the median of the last " +
                    std::to_string(tag.usual.size()) + " records.";
  JsonWriter evidence;
  evidence.begin_object()
      .field("tag", name)
      .field("loss", scalar.value)
      .field("median", limit.median)
      .field("spread", limit.spread)
      .field("records_above", tag.above)
      .field("window", tag.usual.size());
  if (tag.above_step != kNoStep) evidence.field("first_step", tag.above_step);
  if (scalar.step != kNoStep) evidence.field("latest_step", scalar.step);
  verdict.evidence = evidence.end_object().take();
  verdict.next =
      "If the loss does not come back by itself, restart from a checkpoint before the first such "
      "step with a lower learning rate, or skip the batches there; look at the gradient norm and "
      "at the data of these steps.";
  return verdict;
}

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<LossSpike, Params>(
      {.id = "loss_spike",
       .version = 3,
       .scope = Scope::rank,
       .summary = "The training loss is far above its recent values.",
       .doc = "Several logged losses in a row exceed the median of the last 200 by many robust "
              "standard deviations (1.4826 MAD) and by a share of the median. Quiet in the first "
              "records, while the learning rate rises, and where the loss is often as high."},
      {field("sigma", &Params::sigma, 1, 1000,
             "Robust standard deviations above the median that count."),
       field("min_rise", &Params::min_rise, 0, 1000,
             "And at least this share of the median above it."),
       field("confirm", &Params::confirm, 1, 200, "Records in a row that open an alert."),
       field("warmup", &Params::warmup, 5, 200,
             "Records of an attempt that are needed to know what is usual.")});
  return spec;
}

}  // namespace trainwatch::loss_spike
