// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <optional>
#include <string>

#include "trainwatch/json_writer.h"
#include "trainwatch/rule.h"
#include "trainwatch/run_ending.h"

namespace trainwatch::run_failed {
namespace {

struct Params {};

// "rank 3 on node-7"
std::string place_of(const EndEvidence& how) {
  std::string text;
  if (how.rank != kNoRank) text = "rank " + std::to_string(how.rank);
  if (!how.node.empty()) text += (text.empty() ? "" : " on ") + how.node;
  return text;
}

std::string summary_of(const RunEnding& ending) {
  const EndEvidence& how = ending.end->how;
  std::string text = ending.end->is_failure() ? "The run failed" : "The run was ended";
  if (ending.step == kNoStep) {
    text += " before its first step";
  } else {
    text += " at step " + std::to_string(ending.step);
    if (ending.total_steps > ending.step) text += " of " + std::to_string(ending.total_steps);
  }
  text += ": " + std::string(to_string(how.what));
  if (how.signal) text += ", signal " + std::to_string(*how.signal);
  if (how.exit_code) text += ", exit code " + std::to_string(*how.exit_code);
  if (const std::string place = place_of(how); !place.empty()) text += ", first " + place;
  return text + ".";
}

std::string next_of(EndClass what) {
  switch (what) {
    case EndClass::cuda_out_of_memory:
      return "Lower the batch size or the sequence length of the rank that failed first, or look "
             "at what its memory held.";
    case EndClass::host_out_of_memory:
      return "Ask for more memory, or look at what data loaders and checkpoints keep.";
    case EndClass::time_limit:
    case EndClass::preempted:
      return "Start it again from its last checkpoint.";
    case EndClass::gpu_error:
    case EndClass::node_failure:
      return "Take the node out of service, and start again without it.";
    case EndClass::collective_timeout:
      return "Look at the rank that did not enter the operation: the others only waited for it.";
    case EndClass::disk_full:
      return "Make room where checkpoints and logs are written.";
    default:
      return "Look at the evidence, in the file that it names: what other ranks say follows from "
             "it.";
  }
}

class RunFailed final : public Rule {
 public:
  RunFailed(const Params&, const RuleContext&) {}

  void on_run_end(const RunEnding& ending, Verdicts& out) override {
    const bool reported = ending.end && ending.end->how.what != EndClass::cancelled &&
                          ending.end->how.what != EndClass::completed;
    if (!ending.end) return out.restarted(ending.at);
    if (!reported) return out.clear_all(ending.at);
    const std::string key = "attempt " + std::to_string(ending.attempt);
    const Condition condition{
        .key = key,
        .at = ending.end->at,
        .severity = ending.end->is_failure() ? Severity::critical : Severity::warning,
        .aspect = static_cast<std::uint64_t>(ending.end->how.what) << 32U |
                  static_cast<std::uint32_t>(ending.end->how.rank)};
    out.fires(condition, [&] { return describe(ending); });
  }
  void state(StateIo&) override {}

 private:
  static Verdict describe(const RunEnding& ending) {
    const EndEvidence& how = ending.end->how;
    Verdict verdict;
    verdict.step = ending.step == kNoStep ? 0 : ending.step;
    verdict.by_step = true;
    verdict.summary = summary_of(ending);
    verdict.next = next_of(how.what);
    JsonWriter json;
    json.begin_object().field("class", to_string(how.what));
    if (how.rank != kNoRank) json.field("rank", how.rank);
    if (!how.node.empty()) json.field("node", how.node);
    if (how.signal) json.field("signal", *how.signal);
    if (how.exit_code) json.field("exit_code", *how.exit_code);
    json.field("at", to_rfc3339(ending.end->at));
    json.field("evidence", how.text).field("file", how.file);
    verdict.evidence = json.end_object().take();
    return verdict;
  }
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<RunFailed, Params>(
      {.id = "run_failed",
       .scope = Scope::job,
       .summary = "A run has ended without having done its work, and why.",
       .doc =
           "From what the job, its launcher and its scheduler write, exit codes and signals: the "
           "first failure of the strongest kind, a named cause before an exception before an "
           "exit code. What follows from it on other ranks is no cause. A step that begins "
           "afterwards takes it back.",
       .incident = {.specificity = 97, .alone = true, .outlives_run = true}},
      {});
  return spec;
}

}  // namespace trainwatch::run_failed
