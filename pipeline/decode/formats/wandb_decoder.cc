// SPDX-License-Identifier: Apache-2.0
// Weights & Biases' `.wandb` files: what a run logs, as Scalars, and what its machine did, as
// Samples. Values are JSON texts in protobuf records (wandb_internal.proto).
//
// Its writer keeps a block of 32 KiB in memory, so that minutes or hours may pass before a record
// can be read. A run that has ended says so, with its exit code; one that was killed does not.
#include <algorithm>
#include <chrono>
#include <optional>
#include <protozero/pbf_message.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/ends/end_line.h"
#include "pipeline/decode/event_file/tagged_scalars.h"
#include "pipeline/decode/event_file/wandb_file.h"
#include "pipeline/decode/format.h"
#include "pipeline/decode/metric_series.h"
#include "trainwatch/run_note.h"

namespace trainwatch {
namespace {

using WandbMessage = protozero::pbf_reader;
using WandbType = protozero::pbf_wire_type;
using protozero::tag_and_type;

// The numbers of the fields that are read, by message.
namespace wandb_field {
enum Record : protozero::pbf_tag_type { history = 2, stats = 7, run = 17, exit = 18, header = 21 };
enum History : protozero::pbf_tag_type { history_item = 1, history_step = 2 };
enum Step : protozero::pbf_tag_type { step_number = 1 };
enum Stats : protozero::pbf_tag_type { stats_time = 2, stats_item = 3 };
enum Timestamp : protozero::pbf_tag_type { seconds = 1, nanoseconds = 2 };
enum Item : protozero::pbf_tag_type { key = 1, nested_key = 2, value_json = 16 };
enum Run : protozero::pbf_tag_type { host = 13 };
enum Exit : protozero::pbf_tag_type { exit_code = 1 };
enum Header : protozero::pbf_tag_type { version_info = 1 };
enum Version : protozero::pbf_tag_type { producer = 1 };
}  // namespace wandb_field

std::string_view view_of(protozero::data_view view) {
  return {view.data(), view.size()};
}

// What a system metric is called here. Of a GPU: behind "gpu.N.".
struct SystemMetric {
  std::string_view key;
  std::string_view type;
  std::string_view dimension;
};
constexpr SystemMetric kGpuMetrics[] = {
    {"gpu", "gpu", "GPUUtilization"},
    {"memoryAllocated", "gpu", "GPUMemoryUtilization"},  // of its capacity
    {"powerWatts", "gpu", "GPUPower"},
    {"temp", "gpu", "GPUTemperature"},
    {"smClock", "gpu", "GPUSmClock"},
    {"memoryClock", "gpu", "GPUMemoryClock"},
    {"uncorrectedMemoryErrors", "gpu", "GPUEccErrors"},
};
constexpr std::string_view kGpuPrefix = "gpu.";
constexpr std::string_view kMemoryKey = "memory_percent";
// In shared mode, behind a key: which of the writers of the run it was. Each has a file of its own.
constexpr std::string_view kLabel = "/l:";

// "0.31.0+15f8cbc": from 0.27 on, used memory is that of the cgroup; before, of the machine.
bool measures_cgroup(std::string_view version) {
  const std::size_t point = version.find('.');
  if (point == std::string_view::npos) return false;
  const std::string_view rest = version.substr(point + 1);
  const auto major = parse_digits(version.substr(0, point));
  const auto minor = parse_digits(rest.substr(0, rest.find_first_not_of("0123456789")));
  return major && minor && (*major > 0 || *minor >= 27);
}

struct WandbItem {
  std::string key;  // nested keys joined by points
  std::string_view json;
};

// Element `index` of a vector that keeps the memory of its elements.
template <class T>
T& element(std::vector<T>& reused, std::size_t index) {
  return index < reused.size() ? reused[index] : reused.emplace_back();
}

void read_item(WandbMessage message, WandbItem& item) {
  item.key.clear();
  item.json = {};
  while (message.next()) {
    switch (message.tag_and_type()) {
      case tag_and_type(wandb_field::key, WandbType::length_delimited):
      case tag_and_type(wandb_field::nested_key, WandbType::length_delimited):
        if (!item.key.empty()) item.key += '.';
        item.key += view_of(message.get_view());
        break;
      case tag_and_type(wandb_field::value_json, WandbType::length_delimited):
        item.json = view_of(message.get_view());
        break;
      default:
        message.skip();
    }
  }
}

std::int64_t integer_field(WandbMessage message, protozero::pbf_tag_type field) {
  std::int64_t number = 0;
  while (message.next()) {
    if (message.tag_and_type() == tag_and_type(field, WandbType::varint)) {
      number = message.get_int64();
    } else {
      message.skip();
    }
  }
  return number;
}

class WandbDecoder final : public Decoder {
 public:
  explicit WandbDecoder(const FileContext& context) : context_(context), scalars_(context) {}

  void feed(std::string_view bytes, EventBatch& out) override;
  void finish(EventBatch& out) override;
  void cut_back(std::size_t bytes) override { file_.cut_back(bytes); }
  bool complete() const override { return false; }  // records may follow that of the exit
  bool mid_record() const override { return file_.mid_record(); }
  void state(StateIo& io) override;
  std::uint64_t records() const override { return file_.records(); }
  ByteAccount bytes() const override {
    ByteAccount all = file_.bytes();
    if (finished_) all.skipped += file_.waiting();
    return all;
  }

 private:
  struct Value {
    std::string tag;
    double number = 0;
  };

  Rejection record(std::string_view bytes, EventBatch& out);
  Rejection history(WandbMessage message, EventBatch& out);
  Rejection stats(WandbMessage message, EventBatch& out);
  void run(WandbMessage message);
  void header(WandbMessage message);
  void end(std::int64_t code, EventBatch& out);
  void note_end(std::int64_t code, EventBatch& out);
  bool sample(const WandbItem& item, Time at, EventBatch& out);
  bool add_sample(const SystemMetric& metric, std::string_view gpu, double value, Time at,
                  EventBatch& out);

  const FileContext& context_;
  WandbFileReader file_;
  TaggedScalars scalars_;
  std::string host_;
  bool of_cgroup_ = false;     // used memory
  Time latest_ = kNoTime;      // of the history
  std::vector<Value> values_;  // reused, as are the next two
  std::vector<WandbItem> items_;
  WandbItem item_;
  bool finished_ = false;
};

void WandbDecoder::feed(std::string_view bytes, EventBatch& out) {
  finished_ = false;
  file_.feed(
      bytes, [&](std::string_view text) { return record(text, out); },
      [&](RejectReason reason, std::string_view beginning) {
        context_.diagnostics.reject(context_.file, reason, beginning);
      });
}

void WandbDecoder::finish(EventBatch&) {
  if (!std::exchange(finished_, true) && file_.waiting() > 0) {
    context_.diagnostics.reject(context_.file, RejectReason::syntax, "a record without its end");
  }
}

Rejection WandbDecoder::record(std::string_view bytes, EventBatch& out) {
  try {
    WandbMessage message{bytes.data(), bytes.size()};
    while (message.next()) {
      switch (message.tag_and_type()) {
        case tag_and_type(wandb_field::history, WandbType::length_delimited):
          return history(message.get_message(), out);
        case tag_and_type(wandb_field::stats, WandbType::length_delimited):
          return stats(message.get_message(), out);
        case tag_and_type(wandb_field::run, WandbType::length_delimited):
          run(message.get_message());
          return std::nullopt;
        case tag_and_type(wandb_field::header, WandbType::length_delimited):
          header(message.get_message());
          return std::nullopt;
        case tag_and_type(wandb_field::exit, WandbType::length_delimited):
          end(integer_field(message.get_message(), wandb_field::exit_code), out);
          return std::nullopt;
        default:
          message.skip();
      }
    }
  } catch (const protozero::exception&) {
    return RejectReason::syntax;
  }
  return std::nullopt;
}

Rejection WandbDecoder::history(WandbMessage message, EventBatch& out) {
  std::size_t values = 0;
  std::int64_t step = kNoStep;
  std::optional<Time> at;
  while (message.next()) {
    switch (message.tag_and_type()) {
      case tag_and_type(wandb_field::history_item, WandbType::length_delimited):
        read_item(message.get_message(), item_);
        if (item_.key == "_step") step = integer_or(item_.json, step);
        if (item_.key == "_timestamp") {
          const auto time = parse_time_ns(item_.json, TimeUnit::seconds);
          if (time && *time > 0) at = time_from_ns(*time);
        }
        if (item_.key.empty() || item_.key.front() == '_') break;
        if (const auto number = number_in_json(item_.json)) {
          Value& value = element(values_, values++);
          value.tag.assign(item_.key);
          value.number = *number;
        }
        break;
      case tag_and_type(wandb_field::history_step, WandbType::length_delimited):
        if (step == kNoStep)
          step = integer_field(message.get_message(), wandb_field::step_number);
        else
          message.skip();
        break;
      default:
        message.skip();
    }
  }
  if (at) latest_ = std::max(latest_, *at);
  if (values == 0) return std::nullopt;
  if (!scalars_.begin()) return RejectReason::cardinality;
  for (const Value& value : std::span(values_).first(values)) {
    scalars_.emit(value.tag, value.number, step, at, out);
  }
  return std::nullopt;
}

Rejection WandbDecoder::stats(WandbMessage message, EventBatch& out) {
  std::int64_t ns = 0;
  std::size_t items = 0;
  while (message.next()) {
    switch (message.tag_and_type()) {
      case tag_and_type(wandb_field::stats_time, WandbType::length_delimited): {
        const WandbMessage time = message.get_message();
        constexpr std::int64_t kLatest = 9'000'000'000;
        const std::int64_t seconds = integer_field(time, wandb_field::seconds);
        const std::int64_t rest = integer_field(time, wandb_field::nanoseconds);
        if (seconds <= 0 || seconds > kLatest || rest < 0 || rest > 999'999'999) {
          return RejectReason::time;
        }
        ns = seconds * 1'000'000'000 + rest;
        break;
      }
      case tag_and_type(wandb_field::stats_item, WandbType::length_delimited):
        read_item(message.get_message(), element(items_, items++));
        break;
      default:
        message.skip();
    }
  }
  if (ns == 0) return RejectReason::time;
  bool all = true;
  for (const WandbItem& item : std::span(items_).first(items)) {
    all = sample(item, time_from_ns(ns), out) && all;
  }
  return all ? Rejection{} : RejectReason::cardinality;
}

// Records may follow, and a run that is resumed goes on in another file.
void WandbDecoder::end(std::int64_t code, EventBatch& out) {
  if (!scalars_.begin()) return;
  note_end(code, out);
  if (latest_ == kNoTime) return;
  out.emplace_back(
      SourceNote{latest_, context_.lane, SourceNote::Kind::timeline_closed, scalars_.subject()});
}

// The record has no time: its coming, unless the file was written to long after.
void WandbDecoder::note_end(std::int64_t code, EventBatch& out) {
  if (context_.run_notes == nullptr) return;
  const Time written = context_.written;
  const bool sane =
      latest_ == kNoTime || (written >= latest_ && written < latest_ + std::chrono::hours(24));
  RunNote note{.at = sane ? written : latest_, .kind = RunNote::Kind::completed};
  note.subject = scalars_.subject();
  if (code != 0) {
    EndLine line;
    set_exit_code(line, code);
    note.kind = RunNote::Kind::end_evidence;
    note.end = EndEvidence{.what = line.what, .weight = EndWeight::ended};
    note.end->node = valid_name(host_, SubjectTable::kLongestName);
    note.end->signal = line.signal;
    note.end->exit_code = line.exit_code;
    note.end->text = "exit code " + std::to_string(code);
    note.end->file = context_.path;
  }
  out.emplace_back(context_.run_notes->add(std::move(note)));
}

void WandbDecoder::run(WandbMessage message) {
  while (message.next()) {
    if (message.tag_and_type() == tag_and_type(wandb_field::host, WandbType::length_delimited)) {
      host_ = view_of(message.get_view()).substr(0, SymbolTable::kLongestName);
    } else {
      message.skip();
    }
  }
}

void WandbDecoder::header(WandbMessage message) {
  while (message.next(wandb_field::version_info, WandbType::length_delimited)) {
    WandbMessage version = message.get_message();
    while (version.next(wandb_field::producer, WandbType::length_delimited)) {
      of_cgroup_ = measures_cgroup(view_of(version.get_view()));
    }
  }
}

// False: there is no room for its series. Of no use to us: true.
bool WandbDecoder::sample(const WandbItem& item, Time at, EventBatch& out) {
  const auto value = number_in_json(item.json);
  if (!value) return true;
  std::string_view key = item.key;
  key = key.substr(0, key.find(kLabel));
  if (key == kMemoryKey) {
    const std::string_view of = of_cgroup_ ? "cgroup" : "memory";
    return add_sample({key, of, "MemoryUsedPercent"}, "", *value, at, out);
  }
  if (!key.starts_with(kGpuPrefix)) return true;
  key.remove_prefix(kGpuPrefix.size());
  const std::string_view gpu = key.substr(0, key.find('.'));
  if (!parse_digits(gpu) || gpu.size() == key.size()) return true;
  for (const SystemMetric& metric : kGpuMetrics) {
    if (metric.key == key.substr(gpu.size() + 1)) return add_sample(metric, gpu, *value, at, out);
  }
  return true;
}

bool WandbDecoder::add_sample(const SystemMetric& metric, std::string_view gpu, double value,
                              Time at, EventBatch& out) {
  const auto series = intern_series(context_, {host_, metric.type, gpu, metric.dimension});
  if (!series) return false;
  out.emplace_back(std::in_place_type<Sample>, Sample{at, value, series->id, series->resource});
  return true;
}

void WandbDecoder::state(StateIo& io) {
  io(file_);
  io(scalars_);
  io(host_);
  io(of_cgroup_);
  io(latest_);
  io(finished_);
}

Detection detect_wandb(const FormatClue& clue) {
  if (clue.kind != FormatClue::Kind::head) return Detection::no;
  if (clue.head.starts_with(kWandbHeader)) return Detection::yes;
  return kWandbHeader.starts_with(clue.head) ? Detection::undecided : Detection::no;
}

}  // namespace

extern const Format wandb_format = {
    .name = "wandb", .detect = &detect_wandb, .make = &make_decoder<WandbDecoder>};

}  // namespace trainwatch
