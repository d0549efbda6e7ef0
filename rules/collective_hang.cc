// SPDX-License-Identifier: Apache-2.0
// A collective operation hangs; see docs/rules/collective_hang.md.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "rules/format.h"
#include "trainwatch/hang.h"
#include "trainwatch/json_writer.h"
#include "trainwatch/rank_ranges.h"
#include "trainwatch/rule.h"

namespace trainwatch::collective_hang {
namespace {

using Kind = HangFinding::Kind;

struct Params {
  std::int64_t most_frames = 8;
};

std::string ranks_text(const std::set<std::int32_t>& ranks) {
  return (ranks.size() == 1 ? "rank " : "ranks ") + rank_ranges(ranks);
}
std::string verb(const std::set<std::int32_t>& ranks, const char* one, const char* several) {
  return ranks.size() == 1 ? one : several;
}
std::string_view confidence_text(HangFinding::Confidence confidence) {
  constexpr std::string_view kTexts[] = {"low", "medium", "high"};
  return kTexts[static_cast<std::size_t>(confidence)];
}
// Empty: a line of NCCL's watchdog may not say it.
std::string group_text(const HangFinding& found) {
  const std::string& group = found.description.empty() ? found.group : found.description;
  return group.empty() ? group : " of " + group;
}
// Until PyTorch 1.13 the watchdog does not say which of its calls it was.
std::string number_text(const HangFinding& found) {
  return found.sequence < 0 ? "" : " #" + std::to_string(found.sequence);
}
std::string call_text(const HangFinding& found) {
  return found.collective + number_text(found) + group_text(found);
}
// The number of its members, where it is known.
std::string size_text(const HangFinding& found) {
  return found.group_ranks == 0 ? "" : " (" + std::to_string(found.group_ranks) + " ranks)";
}
std::string capitalised(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 32);
  return text;
}

// A fact, and no accusation: it may wait like the others.
bool is_alone_without_dump(const HangFinding& found) {
  return found.missing.size() == 1 && found.unknown == found.missing;
}

std::string sentence(const HangFinding& found) {
  const auto& suspects = found.suspects;
  const std::string who = ranks_text(suspects);
  const std::string call = call_text(found);
  const std::string since = format::seconds(to_seconds(found.waited()));
  const std::string waiting =
      std::to_string(found.waiting.size()) + verb(found.waiting, " waits", " wait");
  switch (found.kind) {
    case Kind::absent:
      return who + verb(suspects, " has", " have") + " not entered " + call + size_text(found) +
             "; " + waiting + " since " + since + ".";
    case Kind::stuck:
      return who + verb(suspects, " has", " have") + " not finished " + call + ", which " +
             ranks_text(found.done) + verb(found.done, " has", " have") + ": GPU or link of " +
             who + ".";
    case Kind::mismatch:
      if (found.difference == "operation" && found.other_collective != found.collective) {
        const std::size_t all = found.group_ranks == 0 ? found.waiting.size() : found.group_ranks;
        return who + " called " + found.other_collective + ", the other " +
               std::to_string(all - std::min(all, suspects.size())) + " " + found.collective +
               ", as #" + std::to_string(found.sequence) + group_text(found) + ".";
      }
      return who + " called " + call + " with " + found.difference + " that do not fit.";
    case Kind::silent:
      return who + verb(suspects, " has", " have") + " said nothing; " + ranks_text(found.waiting) +
             verb(found.waiting, " waits", " wait") + " in " + call + " since " + since + ".";
    case Kind::behind:
      return who + verb(suspects, " has", " have") + " not made the call that " + call +
             " waits for since " + since + ".";
    case Kind::none:
    case Kind::unknown:
      break;
  }
  if (found.lines_only) {
    return ranks_text(found.waiting) + verb(found.waiting, " waits", " wait") + " in " + call +
           " for " + since + "; there are no dumps that say for whom.";
  }
  if (is_alone_without_dump(found)) {
    return "no dump from " + ranks_text(found.missing) +
           ", which is the only member not seen waiting in " + call + " for " + since + ".";
  }
  if (!found.missing.empty()) {
    return waiting + " in " + call + " for " + since + "; " + ranks_text(found.missing) +
           verb(found.missing, " has", " have") + " no dump.";
  }
  return "all " + std::to_string(found.group_ranks) + " ranks are inside " + call + " for " +
         since + ": no rank is missing (network, or a rank's kernel).";
}

std::string cause_text(const HangFinding& found) {
  const std::string waiting = capitalised(ranks_text(found.waiting_all)) +
                              verb(found.waiting_all, " waits", " wait") + " in collectives";
  return found.suspects.empty() ? waiting + "."
                                : waiting + " for " + ranks_text(found.suspects) + ".";
}

std::string next_step(const HangFinding& found) {
  const std::string who = ranks_text(found.suspects);
  switch (found.kind) {
    case Kind::absent:
    case Kind::behind:
      return "Look at the stack of " + who + " (py-spy dump), and at its data loading.";
    case Kind::stuck:
      return "Look for Xid and NVLink errors of the GPU of " + who + ", and at its network link.";
    case Kind::silent:
      return "Look whether the process of " + who + " lives, and at its stack (py-spy dump).";
    case Kind::mismatch:
      return "Look for a branch in the code that " + who + " took and others did not.";
    case Kind::none:
    case Kind::unknown:
      break;
  }
  if (is_alone_without_dump(found)) {
    return "Look whether the process of " + ranks_text(found.missing) +
           " lives, and at its stack (py-spy dump).";
  }
  return "Look for network errors between the nodes, and for ranks whose process is gone.";
}

class CollectiveHang final : public Rule {
 public:
  CollectiveHang(const Params& params, const RuleContext&) : params_(params) {}

  void on_hang(const HangFinding& found, Verdicts& out) override {
    if (found.kind == Kind::none) return out.clear_all(found.at);
    last_ = std::max(last_, found.at);
    const Time at = found.since == kNoTime ? found.at : found.since;
    // More dumps may name other ranks: then it is worth an update.
    std::uint64_t aspect = static_cast<std::uint64_t>(found.kind);
    for (const std::int32_t rank : found.suspects) {
      aspect = aspect * 1000003 + static_cast<std::uint64_t>(rank) + 1;
    }
    out.fires({.at = at, .severity = Severity::critical, .aspect = aspect},
              [&] { return describe(found); });
    // The timeline may have been read before the dumps.
    const auto resumed =
        std::ranges::find_if(resumed_, [this](const Resumed& step) { return step.start > last_; });
    if (resumed != resumed_.end()) end(resumed->end, out);
  }

  // A step that starts after the newest dump shows that training has resumed. What hung is in one
  // that started before.
  void on_step(const Step& step, Verdicts& out) override {
    if (latest_ != kNoTime && step.end() >= latest_ + kPause) paused_ = latest_;
    if (paused_ != kNoTime && step.start >= paused_ + kPause) {
      if (resumed_.size() == kMostPauses) resumed_.erase(resumed_.begin());
      resumed_.push_back({step.start, step.end()});
      paused_ = kNoTime;
    }
    latest_ = std::max(latest_, step.end());
    if (last_ != kNoTime && step.start > last_) end(step.end(), out);
  }

  void state(StateIo& io) override {
    io(last_);
    io(latest_);
    io(paused_);
    io(resumed_);
    const bool possible = is_possible(last_) && is_possible(latest_) && is_possible(paused_) &&
                          resumed_.size() <= kMostPauses &&
                          std::ranges::all_of(resumed_, [](const Resumed& step) {
                            return is_possible(step.start) && is_possible(step.end);
                          });
    if (!possible) io.fail();
  }

  Lifecycle lifecycle() const override {
    return {.change = Lifecycle::Change::points, .min_change = 1e9};
  }

 private:
  // The first step after a pause.
  struct Resumed {
    Time start{};
    Time end{};
  };
  static constexpr std::size_t kMostPauses = 16;
  static constexpr Nanos kPause = std::chrono::seconds(15);  // less than any hang

  void end(Time at, Verdicts& out) {
    out.clear_all(at);
    last_ = kNoTime;
  }

  Verdict describe(const HangFinding& found) const {
    Verdict verdict;
    verdict.since = found.since;
    verdict.value = to_seconds(found.waited());
    verdict.threshold = static_cast<double>(found.timeout_ms) / 1000;
    verdict.lost_seconds = verdict.value;
    verdict.unit = "seconds";
    verdict.summary = capitalised(sentence(found));
    verdict.cause = {CauseName::collective_hang, 1, cause_text(found), {}};
    verdict.next = next_step(found);
    JsonWriter json;
    json.begin_object().key("suspects").begin_array();
    for (const std::int32_t rank : found.suspects) json.value(rank);
    json.end_array()
        .field("waiting", rank_ranges(found.waiting))
        .field("group", found.group)
        .field("group_name", found.description)
        .field("collective", found.collective);
    if (found.sequence >= 0) json.field("sequence", found.sequence);
    json.field("sizes", found.sizes)
        .field("type", found.types)
        .field("done", rank_ranges(found.done))
        .field("absent", rank_ranges(found.absent))
        .field("unknown", rank_ranges(found.unknown))
        .field("no_dump", rank_ranges(found.missing))
        .field("from_lines", rank_ranges(found.from_lines))
        .field("watchdog_stuck", rank_ranges(found.watchdog_stuck))
        .field("waiting_anywhere", rank_ranges(found.waiting_all))
        .field("groups_waiting", found.groups_waiting)
        .field("timeout_seconds", static_cast<double>(found.timeout_ms) / 1000)
        .field("confidence", confidence_text(found.confidence));
    json.key("votes").begin_object();
    for (const auto& [rank, votes] : found.votes) json.field(std::to_string(rank), votes);
    json.end_object().key("frames").begin_array();
    const auto most = static_cast<std::size_t>(params_.most_frames);
    for (std::size_t i = 0; i < found.frames.size() && i < most; ++i) {
      json.value(std::string_view(found.frames[i]).substr(0, 160));
    }
    verdict.evidence = json.end_array().end_object().take();
    return verdict;
  }

  Params params_;
  Time last_ = kNoTime;           // the newest dump or line of the hang
  Time latest_ = kNoTime;         // the end of the latest step
  Time paused_ = kNoTime;         // where a pause began after which no step has started yet
  std::vector<Resumed> resumed_;  // by time, the latest
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<CollectiveHang, Params>(
      {.id = "collective_hang",
       .scope = Scope::job,
       .summary = "A collective operation hangs, and who holds it up.",
       .doc = "From the dumps of PyTorch's Flight Recorder: of the first collective of a process "
              "group that is not complete everywhere, the ranks that have not entered it, or those "
              "that alone have not finished it, or those that called another one. Ranks that "
              "themselves wait for others are not named, nor is anything concluded from a dump "
              "that is missing. Of ranks without a dump, what NCCL's watchdog prints counts.",
       .incident = {.specificity = 95, .slack = std::chrono::seconds(60)}},
      {field("most_frames", &Params::most_frames, 0, 16,
             "Stack frames of the waiting call that the evidence shows.")});
  return spec;
}

}  // namespace trainwatch::collective_hang
