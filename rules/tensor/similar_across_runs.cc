// SPDX-License-Identifier: Apache-2.0
// Tensors differ from those of another run at the same step; SageMaker's SimilarAcrossRuns, see
// docs/rules/similar_across_runs.md.
//
// One instance sees all jobs. Of the other run digests are kept; a tensor of any other job is
// compared with that of the same name, rank, mode and step, in the order of its own run, and so
// waits until the other run has it or is past the step. What is found does not depend on which of
// the two runs is read first, as long as there is room for the tensors of either, and a run that
// begins anew does not do so before the other has got as far.
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rules/tensor/other_run.h"
#include "rules/tensor/tensor_digest.h"
#include "rules/tensor/tensor_rule.h"

namespace trainwatch::similar_across_runs {
namespace {

constexpr std::size_t kMostWaiting = 2048;  // of a run and mode
constexpr std::size_t kMostRuns = 16;       // ranks of runs that are compared
constexpr double kLimit = 1;                // of TensorDigest::how_far()

constexpr TensorPhrases kPhrases[] = {
    {.pattern = "values",
     .one = "differs from that of the other run",
     .many = "differ from those of the other run",
     .figure = "difference over tolerance",
     .next = "Compare what the two runs were started with: code, data and their order, seeds, and "
             "whether the operations are deterministic. The first tensor in the order of the "
             "forward pass that differs says where to look."},
    {.pattern = "shape",
     .one = "has another number of elements than that of the other run",
     .many = "have other numbers of elements than those of the other run",
     .figure = "elements, over those of the other run",
     .next = "Look whether the two runs have the same model and batch size."}};

struct Params {
  std::string other_trials;
  std::string collection_names;
  std::string tensor_regex;
  double rtol = 1e-5;
  double atol = 1e-8;
};

struct Waiting {
  TensorPlace place;
  TensorDigest digest;
};

// What one run says, among others that report to the same place: with its name in each key.
class OneOfMany final : public Verdicts {
 public:
  // `open` is the key of its latest alert, kept from one to the next.
  OneOfMany(Verdicts& all, SubjectId subject, const std::string& name, std::string& open)
      : all_(all), subject_(subject), name_(name), open_(open) {}

  void holds(std::string_view key) override { all_.holds(named(key)); }
  void clear(std::string_view key, Time at) override { all_.clear(named(key), at); }
  void clear_all(Time at) override { all_.clear(open_, at); }
  void restarted(Time at) override { all_.clear(open_, at); }
  std::uint64_t firings(std::string_view key) const override { return all_.firings(named(key)); }

 protected:
  bool wants(const Condition& condition) override {
    condition_ = condition;
    return true;
  }
  void put(Verdict verdict) override {
    open_ = named(condition_.key);
    condition_.key = open_;
    verdict.subject = subject_;
    all_.fires(condition_, [&] { return std::move(verdict); });
  }

 private:
  std::string named(std::string_view key) const { return name_ + std::string(key); }

  Verdicts& all_;
  SubjectId subject_;
  const std::string& name_;
  std::string& open_;
  Condition condition_;
};

// One rank of a run that is compared with the other.
class ComparedRun final : public TensorRule<NoTensorMemory> {
 public:
  ComparedRun(const Tolerance& tolerance, const RuleContext& context)
      : TensorRule(context),
        tolerance_(tolerance),
        subject_(context.subject),
        rank_(context.interner.subjects[subject_].rank),
        name_(name_of(context.interner.subjects[subject_])) {}

  std::int32_t rank() const { return rank_; }
  bool has_more() const { return has_more_; }

  void add(const TensorPlace& place, const TensorDigest& digest) {
    std::deque<Waiting>& waiting = waiting_[static_cast<std::size_t>(place.mode)];
    // The run has begun anew; nobody has got to what waited.
    if (!waiting.empty() && place.step < waiting.back().place.step) waiting.clear();
    has_more_ = has_more_ || waiting.size() >= kMostWaiting;
    if (waiting.size() < kMostWaiting) waiting.push_back({place, digest});
  }
  // Compares what the other run has got to; `ended`: it will not get any further.
  void compare(Mode mode, const OtherRun& other, bool ended, Verdicts& all) {
    OneOfMany out(all, subject_, name_, open_);
    std::deque<Waiting>& waiting = waiting_[static_cast<std::size_t>(mode)];
    for (; !waiting.empty(); waiting.pop_front()) {
      const Waiting& next = waiting.front();
      const TensorDigest* const there = other.find(rank_, next.place);
      if (there != nullptr) {
        compare(next, *there, out);
      } else if (!ended && !other.is_past(rank_, next.place)) {
        return;
      }
    }
  }

  void state(StateIo& io) override {
    TensorRule::state(io);
    io(waiting_);
    io(open_);
    io(has_more_);
    for (const std::deque<Waiting>& waiting : waiting_) {
      for (const Waiting& one : waiting) {
        const TensorPlace& place = one.place;
        if (place.mode >= Mode::count_ || place.step < kNoStep || !is_possible(place.at)) io.fail();
      }
      if (waiting.size() > kMostWaiting) io.fail();
    }
  }

 protected:
  std::span<const TensorPhrases> phrases() const override { return kPhrases; }
  std::string_view wanted() const override { return "tensors of both runs"; }

 private:
  static std::string name_of(const Subject& subject) {
    const std::string rank = subject.rank == kNoRank ? "" : " rank " + std::to_string(subject.rank);
    return subject.job + " " + writer_name(subject) + rank + ": ";
  }

  void compare(const Waiting& here, const TensorDigest& there, Verdicts& out) {
    Track* const track = reach(here.place, out);
    if (track == nullptr) return;
    const TensorDigest& digest = here.digest;
    if (digest.statistics.count != there.statistics.count) {
      const auto expected = static_cast<double>(std::max<std::uint64_t>(there.statistics.count, 1));
      judge(*track, here.place,
            {true, static_cast<double>(digest.statistics.count) / expected, 1, 1}, out);
      return;
    }
    const double far = digest.how_far(there, tolerance_);
    judge(*track, here.place, {far > kLimit, far, kLimit, 0}, out);
  }

  Tolerance tolerance_;
  SubjectId subject_;
  std::int32_t rank_;
  std::string name_;
  std::array<std::deque<Waiting>, static_cast<std::size_t>(Mode::count_)> waiting_;
  std::string open_;
  bool has_more_ = false;
};

class SimilarAcrossRuns final : public Rule {
 public:
  SimilarAcrossRuns(const Params& params, const RuleContext& context)
      : params_(params),
        interner_(context.interner),
        selection_(params.collection_names,
                   params.collection_names.empty() && params.tensor_regex.empty()
                       ? "."  // of all tensors
                       : params.tensor_regex) {}

  void on_tensor(const Tensor& tensor, Verdicts& out) override {
    if (params_.other_trials.empty() || tensor.statistics.count == 0) return;
    if (!selection_.has(tensor, interner_)) return;
    const TensorPlace place = place_of(tensor);
    const Subject& subject = interner_.subjects[tensor.subject];
    if (subject.job == params_.other_trials) {
      other_.keep(subject.rank, place, TensorDigest(tensor));
      for (const auto& [id, run] : runs_) {
        if (run->rank() == subject.rank) run->compare(place.mode, other_, false, out);
      }
    } else if (ComparedRun* const run = run_of(tensor.subject)) {
      run->add(place, TensorDigest(tensor));
      run->compare(place.mode, other_, false, out);
    }
  }
  void on_end(Time, Verdicts& out) override {
    for (const auto& [id, run] : runs_) {
      for (std::size_t mode = 0; mode < static_cast<std::size_t>(Mode::count_); ++mode)
        run->compare(static_cast<Mode>(mode), other_, true, out);
    }
  }

  Lifecycle lifecycle() const override {
    return {.change = Lifecycle::Change::rise, .min_change = Lifecycle::kNeverByFigure};
  }
  bool warming() const override {
    return std::ranges::all_of(runs_, [](const auto& run) { return run.second->warming(); });
  }
  std::vector<std::string_view> missing() const override {
    if (params_.other_trials.empty()) return {"other_trials"};
    std::vector<std::string_view> inputs;
    if (other_.empty()) inputs.emplace_back("tensors of the other run");
    if (runs_.empty()) inputs.emplace_back("tensors of a run beside the other one");
    const bool waits =
        std::ranges::any_of(runs_, [](const auto& run) { return run.second->has_more(); });
    if (other_.has_more() || waits || has_more_runs_) inputs.emplace_back("room for all tensors");
    return inputs;
  }

  void state(StateIo& io) override {
    io(other_);
    io(has_more_runs_);
    auto count = static_cast<std::uint32_t>(runs_.size());
    io(count);
    if (count > kMostRuns) io.fail();
    if (io.is_loading()) return load(io, count);
    for (auto& [id, run] : runs_) {
      SubjectId subject = id;
      io(subject);
      io(*run);
    }
  }

 private:
  ComparedRun* run_of(SubjectId subject) {
    const auto known = runs_.find(subject);
    if (known != runs_.end()) return known->second.get();
    has_more_runs_ = has_more_runs_ || runs_.size() >= kMostRuns;
    if (runs_.size() >= kMostRuns) return nullptr;
    return runs_.emplace(subject, make_run(subject)).first->second.get();
  }
  std::unique_ptr<ComparedRun> make_run(SubjectId subject) const {
    return std::make_unique<ComparedRun>(Tolerance{params_.rtol, params_.atol},
                                         RuleContext{interner_, subject});
  }
  // Without runs that are forgotten.
  void load(StateIo& io, std::uint32_t count) {
    runs_.clear();
    const bool gone_before = io.take_gone();
    for (std::uint32_t i = 0; i < count && io.ok(); ++i) {
      SubjectId subject = SubjectId::none;
      io(subject);
      if (static_cast<std::size_t>(subject) >= interner_.subjects.size()) return io.fail();
      auto run = make_run(subject);
      io(*run);
      if (!io.take_gone()) runs_.insert_or_assign(subject, std::move(run));
    }
    if (gone_before) io.fail();
  }

  Params params_;
  const Interner& interner_;
  TensorSelection selection_;
  OtherRun other_;
  std::map<SubjectId, std::unique_ptr<ComparedRun>> runs_;
  bool has_more_runs_ = false;
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<SimilarAcrossRuns, Params>(
      {.id = "similar_across_runs",
       .scope = Scope::all,
       .summary = "Saved tensors differ from those of another run at the same step.",
       .doc = "SageMaker's SimilarAcrossRuns: tensors of a job are compared with those of the job "
              "`other_trials` of the same name, rank, mode and step, |a - b| <= atol + rtol |b|; "
              "16 elements of each, and the mean, the mean size, the norm, the least and the "
              "largest of all. Judges nothing until `other_trials` is set.",
       .on_by_default = false},
      {text_field("other_trials", &Params::other_trials,
                  "The job to compare with, as alerts name it; it is watched, too."),
       collections_field(&Params::collection_names), names_field(&Params::tensor_regex),
       field("rtol", &Params::rtol, 0, 1, "Relative tolerance."),
       field("atol", &Params::atol, 0, 1e300, "Absolute tolerance.")});
  return spec;
}

}  // namespace trainwatch::similar_across_runs
