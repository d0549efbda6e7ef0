// SPDX-License-Identifier: Apache-2.0
// The rule interface. A rule is parameters, a method per kind of event that it wants, and one spec,
// in one file of rules/:
//
//     namespace trainwatch::step_spike {
//     struct Params { double sigma = 6; };
//     class StepSpike final : public Rule {
//      public:
//       void on_step(const Step& step, Verdicts& out) override;  // O(1): no I/O, clock or random
//       void state(StateIo& io) override;                        // every field that must survive
//     };
//     const RuleSpec& rule();   // returns make_spec<StepSpike, Params>({...}, {...})
//     }
//
// Parsing, bounds, help, `trainwatch rules`, the rows of the documents come from the spec.
//
// The engine owns keying: it makes one instance per subject of the rule's scope and passes each
// instance only the events of its subject, in file order within a lane. Alerts must be a pure
// function of those events.
#pragma once

#include <algorithm>
#include <any>
#include <cassert>
#include <charconv>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainwatch/condition.h"
#include "trainwatch/event.h"
#include "trainwatch/interest.h"
#include "trainwatch/interner.h"
#include "trainwatch/json_writer.h"
#include "trainwatch/result.h"
#include "trainwatch/state_io.h"
#include "trainwatch/valid_text.h"

namespace trainwatch {

struct BookedIteration;
struct CycleSummary;
struct GpuReport;
struct HangFinding;
struct RunEnding;
struct Tensor;

// Events reach a rule only through the methods that it overrides. Nothing in an argument may be
// kept beyond the call.
class Rule {
 public:
  virtual ~Rule() = default;

  // Each handles one event and reports, if the event completes an evaluation.
  virtual void on_step(const Step&, Verdicts&) {}
  // The same step once all waits of its iteration were read, perhaps from another file.
  virtual void on_complete_step(const Step&, Verdicts&) {}
  virtual void on_sample(const Sample&, Verdicts&) {}       // of RuleText::samples
  virtual void on_span(const Span&, Verdicts&) {}           // of RuleText::spans
  virtual void on_cycle(const CycleSummary&, Verdicts&) {}  // a rank's profiler cycle, complete
  virtual void on_hang(const HangFinding&, Verdicts&) {}    // of a job: its ranks' dumps
  // Iterations of a job with several ranks, in order.
  virtual void on_booked(const BookedIteration&, Verdicts&) {}
  virtual void on_run_end(const RunEnding&, Verdicts&) {}  // of a job; also that it continues
  virtual void on_gpu_report(const GpuReport&, Verdicts&) {}
  virtual void on_note(const SourceNote&, Verdicts&) {}  // of a timeline
  virtual void on_scalar(const Scalar&, Verdicts&) {}    // what the job logs about itself
  virtual void on_tensor(const Tensor&, Verdicts&) {}    // that the job has saved
  // Thousands of instances see each second pass, and nearly none has anything to do.
  virtual TickResult on_tick(Tick, Verdicts&) { return {}; }
  // All files were read to their ends, those of this job up to the event time `latest`, and nothing
  // will follow. A daemon never calls it.
  virtual void on_end([[maybe_unused]] Time latest, Verdicts&) {}

  // When the alert book repeats and ends what this rule says. Asked once.
  virtual Lifecycle lifecycle() const { return {}; }

  virtual void state(StateIo& io) = 0;
  // True while the rule has seen too little to judge; shown as `rule_warming`.
  virtual bool warming() const { return false; }
  // The missing input, as INCOMPLETE_DATA of the status page: "gpu activity". While this is not
  // empty, the rule abstains: missing input is not taken for zero.
  virtual std::vector<std::string_view> missing() const { return {}; }
};

// The source of the parameters that are not set by name: trainwatch's own defaults, those of the
// code of SageMaker's rules, or those of SageMaker's documentation.
enum class RulePreset : std::uint8_t { trainwatch, sagemaker_code, sagemaker_docs };

// The defaults of SageMaker's rule. Empty: the code has trainwatch's, the documentation the code's.
struct SageMakerDefaults {
  std::optional<double> code{};
  std::optional<double> docs{};
};

// One parameter as users see it. `text` is its form in the configuration file or after --set.
struct Param {
  enum class Kind : std::uint8_t { number, boolean, text };

  std::string_view name;
  std::string_view help;
  double min = 0;  // of a number; of a text, its length in bytes
  double max = 0;
  std::function<Status(std::any& params, std::string_view text)> parse;
  std::function<std::string(const std::any& params)> print;
  SageMakerDefaults sagemaker{};
  Kind kind = Kind::number;

  // What a value may be, for people: "0..100", "true or false", "text".
  std::string bounds() const;
  // As print(), in JSON and in YAML.
  std::string print_json(const std::any& params) const;
  std::string print_yaml(const std::any& params) const;

  // What the preset has in place of the rule's own default.
  std::optional<double> preset_default(RulePreset preset) const {
    if (preset == RulePreset::trainwatch) return std::nullopt;
    const bool documented = preset == RulePreset::sagemaker_docs && sagemaker.docs;
    return documented ? sagemaker.docs : sagemaker.code;
  }
};

// What the system metrics of a node say about whether it was awake.
class NodeActivity {
 public:
  virtual ~NodeActivity() = default;
  // Somebody samples the node of this rank.
  virtual bool is_sampled(SubjectId rank) const = 0;
  // Samples later than `time` were read.
  virtual bool passed(SubjectId rank, Time time) const = 0;
  // The longest time without a sample in [from, to], to the second.
  virtual Nanos longest_silence(SubjectId rank, Time from, Time to) const = 0;
  // How far apart the last two samples until `time` are, to the second; zero if there are not two
  // within five minutes.
  virtual Nanos sampling_interval(SubjectId rank, Time time) const = 0;
  // Whether the node did something in [from, to]: the load of its GPUs changed from sample to
  // sample, which it does not where kernels wait for each other or nothing runs, or its cores
  // waited for its disks for a fifth of the time.
  virtual bool is_at_work(SubjectId rank, Time from, Time to) const = 0;
};

// The checkpoint files that jobs write.
class CheckpointActivity {
 public:
  virtual ~CheckpointActivity() = default;
  // The last write in (from, to] to a checkpoint file of this rank's job; kNoTime if there was
  // none.
  virtual Time latest(SubjectId rank, Time from, Time to) const = 0;
};

// The pauses of the ranks of a job: marked checkpoints and evaluations, and long times between
// steps.
class PauseActivity {
 public:
  virtual ~PauseActivity() = default;
  // How much of [from, to] other ranks of this rank's job spent in them.
  virtual Nanos of_others(SubjectId rank, Time from, Time to) const = 0;
  // Whether the timelines of all other ranks of the job were read up to `time`: all pauses until
  // then are known.
  virtual bool passed(SubjectId rank, Time time) = 0;
  // Whether as many ranks of its job are known as it has; `world`: how many, 0: not known.
  virtual bool knows_all(SubjectId rank, std::uint32_t world) = 0;
};

struct RuleContext {
  const Interner& interner;
  SubjectId subject;                                // the subject of this instance
  const NodeActivity* node = nullptr;               // null: nothing is known of nodes
  const CheckpointActivity* checkpoints = nullptr;  // null: nothing is known of files
  PauseActivity* pauses = nullptr;                  // null: nothing is known of other ranks
};

// How alerts of a rule join those of others (pipeline/engine/incidents.h).
struct IncidentRole {
  std::int32_t specificity = 0;  // of what speaks for an incident the highest; 0: joins no others
  Nanos slack = std::chrono::seconds(60);  // how much later than the trouble it may notice it
  // Its alerts are about one step: on several ranks they are one thing only in the same step.
  bool of_one_step = false;
  // It measures where the time went, and so joins only what has the same cause; others are seen
  // together with any.
  bool of_one_cause = false;
  bool alone = false;         // each alert is an incident of its own
  bool outlives_run = false;  // its alerts are about the end of a run, and fire when that is over
};

struct RuleSpec {
  std::string_view id;
  // Raise it if the rule decides differently or its state() reads differently: that rule alone
  // starts cold, its open alerts resolve, and new ones have other ids. If any other state reads
  // differently, raise kStateVersion (pipeline/state/durable_pipeline.cc) instead: all files are
  // read again. Neither is needed for wording, or for parameters and their defaults.
  int version = 1;
  Scope scope = Scope::job;
  std::string_view summary;  // one line
  std::string_view doc;      // how it decides, and the source of the definition
  Interest interest{};
  std::vector<Param> params;
  std::any defaults;          // a Params
  Nanos hold{};               // the default of `for`
  bool on_by_default = true;  // false: runs only if enabled by name
  // Critical also where the format of a job's records is guessed; other rules about steps and
  // scalars only warn then.
  bool trusts_guesses = false;
  IncidentRole incident{};
  std::function<std::unique_ptr<Rule>(const std::any& params, const RuleContext&)> make;
};

// A rule that is enabled, with its parameters.
struct RuleConfig {
  const RuleSpec* spec = nullptr;
  std::any params;
  Nanos hold{};  // `for`: how long the condition must hold before the alert fires, event time
  Nanos keep{};  // `keep_firing_for`: how long the alert keeps firing after the condition ended

  explicit RuleConfig(const RuleSpec& rule) : spec(&rule), params(rule.defaults), hold(rule.hold) {}
  // Sets one parameter. The error names the parameter and its bounds.
  Status set(std::string_view name, std::string_view text) {
    for (const Param& param : spec->params) {
      if (param.name == name) return param.parse(params, text);
    }
    return Error{std::string(spec->id) + " has no parameter '" + std::string(name) + "'"};
  }
  // Sets the parameters to the preset's defaults, except those named.
  void apply(RulePreset preset, const std::set<std::string_view>& except = {});
};

// Returns the index of the rule with this id, or rules.size() if no rule has it.
inline std::uint32_t rule_number(std::span<const RuleConfig> rules, std::string_view id) {
  const auto found =
      std::ranges::find(rules, id, [](const RuleConfig& rule) { return rule.spec->id; });
  return static_cast<std::uint32_t>(found - rules.begin());
}

namespace detail {

inline constexpr std::size_t kLongestTextParam = 1024;

inline std::string number_text(double number) {
  char text[32];
  const double size = number < 0 ? -number : number;
  const bool plain = size == 0 || (size >= 1e-9 && size < 1e15);  // "1000000", not "1e+06"
  const auto format = plain ? std::chars_format::fixed : std::chars_format::general;
  const auto end = std::to_chars(text, text + sizeof text, number, format).ptr;
  return {text, end};
}

template <class T>
Status parse_number(std::string_view name, std::string_view text, double min, double max, T& out) {
  T number{};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc{} || end != text.data() + text.size()) {
    return Error{std::string(name) + ": '" + std::string(text) + "' is not a number"};
  }
  const auto wide = static_cast<double>(number);
  if (!(wide >= min && wide <= max)) {
    return Error{std::string(name) + ": " + std::string(text) + " is outside " + number_text(min) +
                 ".." + number_text(max)};
  }
  out = number;
  return success();
}

inline Status parse_boolean(std::string_view name, std::string_view text, bool& out) {
  const bool yes = text == "true" || text == "True";
  if (!yes && text != "false" && text != "False") {
    return Error{std::string(name) + ": '" + std::string(text) + "' is not true or false"};
  }
  out = yes;
  return success();
}

inline Status parse_text(std::string_view name, std::string_view text, std::string& out) {
  if (text.size() > kLongestTextParam) {
    return Error{std::string(name) + ": longer than " + std::to_string(kLongestTextParam) +
                 " bytes"};
  }
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  if (!is_valid_text(text) || std::ranges::any_of(text, is_control)) {
    return Error{std::string(name) + ": is not printable text in UTF-8"};
  }
  out = text;
  return success();
}

}  // namespace detail

inline std::string Param::bounds() const {
  if (kind == Kind::boolean) return "true or false";
  if (kind == Kind::text) return "text";
  return detail::number_text(min) + ".." + detail::number_text(max);
}

inline std::string Param::print_json(const std::any& params) const {
  return kind == Kind::text ? JsonWriter{}.value(print(params)).take() : print(params);
}

inline std::string Param::print_yaml(const std::any& params) const {
  if (kind != Kind::text) return print(params);
  std::string quoted = "'";
  for (const char c : print(params)) quoted.append(c == '\'' ? 2 : 1, c);
  return quoted + "'";
}

inline void RuleConfig::apply(RulePreset preset, const std::set<std::string_view>& except) {
  for (const Param& param : spec->params) {
    const auto number = param.preset_default(preset);
    if (!number || except.contains(param.name)) continue;
    const Status within_bounds = param.parse(params, detail::number_text(*number));
    assert(within_bounds.ok());
    (void)within_bounds;
  }
}

// A numeric parameter (double or an integer type) with inclusive bounds.
template <class Params, class T>
Param field(std::string_view name, T Params::*member, double min, double max, std::string_view help,
            SageMakerDefaults sagemaker = {}) {
  Param param{name, help, min, max, {}, {}, sagemaker, Param::Kind::number};
  param.parse = [=](std::any& params, std::string_view text) {
    return detail::parse_number(name, text, min, max, std::any_cast<Params&>(params).*member);
  };
  param.print = [=](const std::any& params) {
    return detail::number_text(static_cast<double>(std::any_cast<const Params&>(params).*member));
  };
  return param;
}

// A parameter that is true or false.
template <class Params>
Param bool_field(std::string_view name, bool Params::*member, std::string_view help) {
  Param param{name, help, 0, 0, {}, {}, {}, Param::Kind::boolean};
  param.parse = [=](std::any& params, std::string_view text) {
    return detail::parse_boolean(name, text, std::any_cast<Params&>(params).*member);
  };
  param.print = [=](const std::any& params) -> std::string {
    return std::any_cast<const Params&>(params).*member ? "true" : "false";
  };
  return param;
}

// A text of at most kLongestTextParam bytes. `check` says what is wrong with one, without its name;
// it is called when the configuration is read, so that a rule gets what it accepts.
template <class Params>
Param text_field(std::string_view name, std::string Params::*member, std::string_view help,
                 Status (*check)(std::string_view) = nullptr) {
  Param param{name, help, 0, detail::kLongestTextParam, {}, {}, {}, Param::Kind::text};
  param.parse = [=](std::any& params, std::string_view text) -> Status {
    std::string valid;
    if (Status read = detail::parse_text(name, text, valid); !read.ok()) return read;
    if (check != nullptr) {
      if (const Status fits = check(valid); !fits.ok()) {
        return Error{std::string(name) + ": " + fits.error().message};
      }
    }
    std::any_cast<Params&>(params).*member = std::move(valid);
    return success();
  };
  param.print = [=](const std::any& params) {
    return std::any_cast<const Params&>(params).*member;
  };
  return param;
}

// What differs between rules; make_spec() adds the rest.
struct RuleText {
  std::string_view id;
  int version = 1;
  Scope scope = Scope::job;
  std::string_view summary;
  std::string_view doc;
  std::vector<Resource> samples{};  // whose samples on_sample() gets
  std::vector<SpanKind> spans{};    // which on_span() gets
  // It takes steps of origin `log` as well, each the mean of an interval.
  bool logged_steps = false;
  Nanos hold{};
  bool on_by_default = true;
  IncidentRole incident{};
};

namespace detail {

template <class RuleType>
Interest interest_of(const RuleText& text) {
  Interest interest = interest_of<Rule, RuleType>(text.id, text.samples, text.spans);
  interest.logged_steps = text.logged_steps;
  interest.steps = overrides(&Rule::on_step, &RuleType::on_step);
  interest.complete_steps = overrides(&Rule::on_complete_step, &RuleType::on_complete_step);
  interest.hangs = overrides(&Rule::on_hang, &RuleType::on_hang);
  interest.booked = overrides(&Rule::on_booked, &RuleType::on_booked);
  interest.run_ends = overrides(&Rule::on_run_end, &RuleType::on_run_end);
  interest.gpu_reports = overrides(&Rule::on_gpu_report, &RuleType::on_gpu_report);
  interest.notes = overrides(&Rule::on_note, &RuleType::on_note);
  interest.scalars = overrides(&Rule::on_scalar, &RuleType::on_scalar);
  interest.tensors = overrides(&Rule::on_tensor, &RuleType::on_tensor);
  interest.ticks = overrides(&Rule::on_tick, &RuleType::on_tick);
  interest.end = overrides(&Rule::on_end, &RuleType::on_end);
  return interest;
}

}  // namespace detail

template <class RuleType, class Params>
RuleSpec make_spec(const RuleText& text, std::vector<Param> params) {
  RuleSpec spec;
  spec.id = text.id;
  spec.version = text.version;
  spec.scope = text.scope;
  spec.summary = text.summary;
  spec.doc = text.doc;
  spec.interest = detail::interest_of<RuleType>(text);
  spec.params = std::move(params);
  spec.defaults = Params{};
  spec.hold = text.hold;
  spec.on_by_default = text.on_by_default;
  spec.incident = text.incident;
  spec.make = [](const std::any& values, const RuleContext& context) -> std::unique_ptr<Rule> {
    return std::make_unique<RuleType>(std::any_cast<const Params&>(values), context);
  };
  return spec;
}

}  // namespace trainwatch
