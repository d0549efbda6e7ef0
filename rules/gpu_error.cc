// SPDX-License-Identifier: Apache-2.0
// A GPU reports an error; see docs/rules/gpu_error.md.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "trainwatch/gpu_report.h"
#include "trainwatch/json_writer.h"
#include "trainwatch/rule.h"

namespace trainwatch::gpu_error {
namespace {

struct Params {
  double recovery_seconds = 300;
};

constexpr double kLargest = 1e9;  // no number of an error, nor of errors, is larger

// NVIDIA's "XID Errors". Those of the machine, not of the program, ruin what the GPU computes.
struct Xid {
  std::int64_t number;
  bool of_machine;
  std::string_view what;
};
constexpr Xid kXids[] = {
    {13, false, "an exception in a kernel"},
    {31, false, "an access to an invalid address"},
    {32, false, "an invalid command stream"},
    {43, false, "a channel that had to be reset"},
    {45, false, "a channel that was ended, often after another error"},
    {48, true, "an uncorrectable memory error"},
    {61, true, "a fault of its microcontroller"},
    {62, true, "a fault of its microcontroller"},
    {63, false, "a memory page or row that is taken out of use"},
    {64, true, "a memory page or row that cannot be taken out of use"},
    {74, true, "an NVLink error"},
    {79, true, "it has fallen off the bus"},
    {92, false, "many corrected memory errors"},
    {94, false, "a memory error that ended one program"},
    {95, true, "a memory error that could not be contained"},
    {119, true, "a timeout of its system processor"},
    {120, true, "a fault of its system processor"},
};

const Xid* known_xid(std::int64_t number) {
  const auto* const found = std::ranges::find(kXids, number, &Xid::number);
  return found == std::end(kXids) ? nullptr : found;
}

class GpuError final : public Rule {
 public:
  GpuError(const Params& params, const RuleContext&) : params_(params) {}

  void on_sample(const Sample& sample, Verdicts& out) override {
    if (!(sample.value >= 0 && sample.value <= kLargest)) return;
    const auto number = static_cast<std::int64_t>(sample.value);
    sample.resource == Resource::gpu_xid ? on_xid(number, sample.at, out)
                                         : on_memory_errors(number, sample.at, out);
  }

  // Each line of a kernel's log is an error that has happened, and none says that it is over.
  void on_gpu_report(const GpuReport& report, Verdicts& out) override {
    const XidReport& error = report.error;
    if (error.number <= 0 || error.number > static_cast<std::int64_t>(kLargest)) return;
    if (reported_.last != kUnknown) end("xid", reported_, report.at, out);
    const bool again = error.number == reported_.last && out.firings("xid") > 0;
    reported_ = {error.number, std::max(reported_.changed, report.at)};
    if (again) return out.holds("xid");  // a line for each channel of the GPU, thousands at times
    fires(error.number, report.at, out, [&](Verdict& verdict) { add_report(error, verdict); });
  }

  TickResult on_tick(Tick tick, Verdicts& out) override {
    if (reported_.last == kUnknown) return {false, Time::max()};
    const Time over = reported_.changed + from_seconds(params_.recovery_seconds);
    if (tick.now < over) return {false, over};
    if (out.firings("xid") > 0) out.clear("xid", over);
    reported_.last = kUnknown;
    return {true, Time::max()};
  }

  void state(StateIo& io) override {
    io(xid_);
    io(errors_);
    io(reported_);
    if (!xid_.possible() || !errors_.possible() || !reported_.possible()) io.fail();
  }

  bool warming() const override {
    return xid_.last == kUnknown && errors_.last == kUnknown && reported_.changed == Time{};
  }

 private:
  static constexpr std::int64_t kUnknown = -1;

  struct Counter {
    std::int64_t last = kUnknown;
    Time changed{};
    bool possible() const { return last >= kUnknown && is_possible(changed); }
  };

  // The sampler repeats the last one as long as it runs.
  void on_xid(std::int64_t number, Time at, Verdicts& out) {
    const bool happened = number != 0 && number != xid_.last;
    xid_.last = number;
    if (!happened) return end("xid", xid_, at, out);
    xid_.changed = at;
    fires(number, at, out, [](Verdict&) {});
  }

  // `complete` adds what else is known to the verdict.
  template <class Complete>
  static void fires(std::int64_t number, Time at, Verdicts& out, Complete&& complete) {
    const Xid* const known = known_xid(number);
    const bool severe = known != nullptr && known->of_machine;
    out.fires({.key = "xid",
               .at = at,
               .severity = severe ? Severity::critical : Severity::warning,
               .aspect = static_cast<std::uint64_t>(number)},
              [&] {
                Verdict verdict = describe_xid(number, known);
                complete(verdict);
                return verdict;
              });
  }

  static void add_report(const XidReport& error, Verdict& verdict) {
    JsonWriter json;
    json.begin_object().field("xid", error.number);
    if (error.process != kNoProcess) {
      json.field("pid", error.process);
      verdict.summary.insert(verdict.summary.size() - 1,
                             ", in process " + std::to_string(error.process));
    }
    verdict.evidence = json.field("line", error.text).end_object().take();
  }

  void on_memory_errors(std::int64_t errors, Time at, Verdicts& out) {
    const std::int64_t before = errors_.last;
    errors_.last = errors;
    if (before == kUnknown || errors <= before) return end("memory", errors_, at, out);
    errors_.changed = at;
    out.fires({.key = "memory", .at = at, .severity = Severity::critical},
              [&] { return describe_memory(errors - before, errors); });
  }

  void end(std::string_view key, const Counter& counter, Time at, Verdicts& out) const {
    if (at - counter.changed >= from_seconds(params_.recovery_seconds)) out.clear(key, at);
  }

  static Verdict describe_xid(std::int64_t number, const Xid* known) {
    Verdict verdict;
    verdict.value = static_cast<double>(number);
    verdict.unit = "XID";
    verdict.summary = "The GPU reports XID " + std::to_string(number) + " (" +
                      (known == nullptr ? "a critical error" : std::string(known->what)) + ").";
    verdict.evidence = JsonWriter{}.begin_object().field("xid", number).end_object().take();
    verdict.next =
        "Look at the kernel's log (dmesg | grep -i xid) and at what NVIDIA says of this number. If "
        "the machine is at fault, restart the job from its last checkpoint on another one.";
    return verdict;
  }

  static Verdict describe_memory(std::int64_t more, std::int64_t all) {
    Verdict verdict;
    verdict.value = static_cast<double>(more);
    verdict.unit = "errors";
    verdict.summary = "The GPU found " + std::to_string(more) + " uncorrectable memory " +
                      (more == 1 ? "error" : "errors") + ": what it computes can be wrong.";
    verdict.evidence = JsonWriter{}
                           .begin_object()
                           .field("errors", more)
                           .field("errors_since_driver_start", all)
                           .end_object()
                           .take();
    verdict.next =
        "Stop the job, restart it from an earlier checkpoint on another machine, and have "
        "this GPU checked (nvidia-smi -q -d ECC,ROW_REMAPPER).";
    return verdict;
  }

  Params params_;
  Counter xid_;
  Counter errors_;
  Counter reported_;  // by the kernel's log
};

}  // namespace

const RuleSpec& rule() {
  static const RuleSpec spec = make_spec<GpuError, Params>(
      {.id = "gpu_error",
       .version = 2,
       .scope = Scope::gpu,
       .summary = "A GPU reports a critical error or uncorrectable memory errors.",
       .doc = "The driver reports a critical error (XID), or its count of uncorrectable memory "
              "errors (ECC) rises. `trainwatch sample` writes both, and the kernel's log has the "
              "former.",
       .samples = {Resource::gpu_xid, Resource::gpu_ecc_errors},
       .incident = {.specificity = 95}},
      {field("recovery_seconds", &Params::recovery_seconds, 0, 86400,
             "Seconds without another error that end the alert.")});
  return spec;
}

}  // namespace trainwatch::gpu_error
