// SPDX-License-Identifier: Apache-2.0
// TensorBoard's event files, of TensorFlow, PyTorch, tensorboardX, Keras, JAX: the scalars in them,
// in both encodings. Each value is a Scalar with the tag as its name; what the common tags mean is
// in scalar_tags.
//
// A job that resumes writes a new file, whose steps may begin before the last ones of the file
// before (`purge_step` says so in a record of its own, most writers do not): the steps go back, and
// that is all that is said.
#include <cmath>
#include <utility>

#include "pipeline/decode/event_file/record_file.h"
#include "pipeline/decode/event_file/summary_event.h"
#include "pipeline/decode/event_file/tagged_scalars.h"
#include "pipeline/decode/format.h"
#include "pipeline/decode/path_metadata.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMaxFirstRecord = 1024;  // the first one has a version and a name
constexpr std::string_view kVersion = "brain.Event:";
constexpr char kVersionKey = 0x1A;
constexpr std::string_view kFileName = "events.out.tfevents.";

class TensorBoardDecoder final : public Decoder {
 public:
  explicit TensorBoardDecoder(const FileContext& context) : context_(context), scalars_(context) {}

  void feed(std::string_view bytes, EventBatch& out) override;
  void finish(EventBatch& out) override;
  void cut_back(std::size_t bytes) override { splitter_.cut_back(bytes); }
  bool complete() const override { return false; }  // nothing marks the end of the file
  bool mid_record() const override { return splitter_.mid_record(); }
  void state(StateIo& io) override;
  std::uint64_t records() const override { return splitter_.records(); }
  ByteAccount bytes() const override {
    ByteAccount all = splitter_.bytes();
    if (finished_) all.skipped += splitter_.waiting();
    return all;
  }

 private:
  bool read(std::string_view payload, EventBatch& out);

  const FileContext& context_;
  RecordFileSplitter splitter_;
  SummaryEvent event_;  // reused
  TaggedScalars scalars_;
  bool finished_ = false;
};

void TensorBoardDecoder::feed(std::string_view bytes, EventBatch& out) {
  finished_ = false;
  splitter_.feed(
      bytes, [&](std::string_view payload) { return read(payload, out); },
      [&](RejectReason reason, std::string_view beginning) {
        context_.diagnostics.reject(context_.file, reason, beginning);
      });
}

void TensorBoardDecoder::finish(EventBatch&) {
  const bool unreported = splitter_.waiting() > 0 && !splitter_.behind_damage();
  if (!std::exchange(finished_, true) && unreported) {
    context_.diagnostics.reject(context_.file, RejectReason::syntax, "a record without its end");
  }
}

bool TensorBoardDecoder::read(std::string_view payload, EventBatch& out) {
  if (!read_summary_event(payload, event_)) {
    context_.diagnostics.reject(context_.file, RejectReason::syntax, payload);
    return false;
  }
  if (event_.values.empty()) return true;
  constexpr double kLatest = 7.26e9;  // seconds, the year 2200; so that nanoseconds have room
  if (!(event_.wall_time >= 0 && event_.wall_time < kLatest)) {
    context_.diagnostics.reject(context_.file, RejectReason::time, payload);
    return false;
  }
  if (!scalars_.begin()) {
    context_.diagnostics.reject(context_.file, RejectReason::cardinality, payload);
    return false;
  }
  const double seconds = std::floor(event_.wall_time);
  const auto nanoseconds = static_cast<std::int64_t>((event_.wall_time - seconds) * 1e9);
  const Time at = time_from_ns(static_cast<std::int64_t>(seconds) * 1'000'000'000 + nanoseconds);
  bool ends = false;
  for (const SummaryEvent::Value& value : event_.values) {
    scalars_.emit(value.tag, value.number, event_.step, at, out);
    ends = ends || value.tag == kEndOfTraining;
  }
  if (ends) {
    out.emplace_back(
        SourceNote{at, context_.lane, SourceNote::Kind::timeline_closed, scalars_.subject()});
  }
  return true;
}

void TensorBoardDecoder::state(StateIo& io) {
  io(splitter_);
  io(scalars_);
  io(finished_);
}

// The first record of every writer is short and says the version.
Detection detect_tensorboard(const FormatClue& clue) {
  if (clue.kind != FormatClue::Kind::head) return Detection::no;
  // A damaged first record hides no file with such a name: a later one shows it.
  const bool is_named = is_event_file(clue.path) && trial_path_metadata(clue.path).trial.empty();
  if (clue.head.size() < kRecordHeader) {
    if (is_named) return Detection::undecided;
    // The upper bytes of the length.
    const bool may_be =
        clue.head.find_first_not_of('\0', 2) == std::string_view::npos && clue.head.size() > 4;
    return may_be ? Detection::undecided : Detection::no;
  }
  if (!begins_record(clue.head)) {
    if (!is_named) return Detection::no;
    return has_record_behind_damage(clue.head) ? Detection::yes : Detection::undecided;
  }
  const std::string_view payload = beginning_of_payload(clue.head).substr(0, kMaxFirstRecord);
  // Every event begins with its time: 9 bytes.
  constexpr std::size_t kTime = 9;
  const bool has_other = payload.size() > kTime && payload[kTime] != kVersionKey;
  if (has_other && !is_named) return Detection::no;
  if (payload.find(kVersion) != std::string_view::npos) return Detection::yes;
  const bool whole =
      payload.size() == kMaxFirstRecord || clue.head.size() > kRecordHeader + payload.size();
  if (!whole) return Detection::undecided;
  const bool is_its_name = clue.path.find(kFileName) != std::string_view::npos;
  return is_its_name ? Detection::yes : Detection::no;
}

}  // namespace

extern const Format tensorboard_format = {.name = "tensorboard",
                                          .detect = &detect_tensorboard,
                                          .make = &make_decoder<TensorBoardDecoder>};

}  // namespace trainwatch
