// TensorBoard's event files, of TensorFlow, PyTorch, tensorboardX, Keras, JAX: the scalars in them,
// in both encodings. Each value is a Scalar with the tag as its name; what the common tags mean is
// in event_file/scalar_tags.
//
// A job that resumes writes a new file, whose steps may begin before the last ones of the file
// before (`purge_step` says so in a record of its own, most writers do not): the steps go back, and
// that is all that is said.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>

#include "pipeline/decode/event_file/record_file.h"
#include "pipeline/decode/event_file/scalar_tags.h"
#include "pipeline/decode/event_file/summary_event.h"
#include "pipeline/decode/format.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMaxTags = 256;          // of one file
constexpr std::size_t kMaxFirstRecord = 1024;  // the first one has a version and a name
constexpr std::string_view kVersion = "brain.Event:";

class TensorBoardDecoder final : public Decoder {
 public:
  explicit TensorBoardDecoder(const FileContext& context) : context_(context) {}

  void feed(std::string_view bytes, EventBatch& out) override;
  void finish(EventBatch& out) override;
  void cut_back(std::size_t bytes) override { splitter_.cut_back(bytes); }
  bool complete() const override { return false; }  // nothing marks the end
  bool mid_record() const override { return splitter_.mid_record(); }
  void state(StateIo& io) override;
  std::uint64_t records() const override { return splitter_.records(); }
  ByteAccount bytes() const override {
    ByteAccount all = splitter_.bytes();
    if (finished_) all.skipped += splitter_.waiting();
    return all;
  }

 private:
  struct Tag {
    Symbol symbol = Symbol::none;
    ScalarMeaning meaning;
    std::int64_t last_step = kNoStep;
    void state(StateIo& io) {
      io(symbol);
      io(last_step);
    }
  };

  bool read(std::string_view payload, EventBatch& out);
  void add(const SummaryEvent::Value& value, Scalar scalar, EventBatch& out);
  // Null: there is no room for another one.
  Tag* tag_of(std::string_view name);

  const FileContext& context_;
  RecordFileSplitter splitter_;
  SummaryEvent event_;  // reused
  std::map<std::string, Tag> tags_;
  std::string name_;  // reused: the tag of one value
  std::optional<SubjectId> subject_;
  bool too_many_reported_ = false;
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
  if (!subject_) {
    Subject subject{context_.job, "", context_.rank, ""};
    context_.fill_in(subject);
    subject_ = context_.interner.subjects.intern(subject);
  }
  if (!subject_) {
    context_.diagnostics.reject(context_.file, RejectReason::cardinality, payload);
    return false;
  }
  const double seconds = std::floor(event_.wall_time);
  const auto nanoseconds = static_cast<std::int64_t>((event_.wall_time - seconds) * 1e9);
  Scalar scalar;
  scalar.at = time_from_ns(static_cast<std::int64_t>(seconds) * 1'000'000'000 + nanoseconds);
  scalar.timed = true;
  scalar.step = std::max(event_.step, kNoStep);
  scalar.subject = *subject_;
  for (const SummaryEvent::Value& value : event_.values) add(value, scalar, out);
  return true;
}

void TensorBoardDecoder::add(const SummaryEvent::Value& value, Scalar scalar, EventBatch& out) {
  Tag* const tag = tag_of(value.tag);
  if (tag == nullptr) return;
  if (tag->meaning.is_mean() && tag->last_step != kNoStep && scalar.step > tag->last_step) {
    constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
    scalar.steps = static_cast<std::uint32_t>(std::min(scalar.step - tag->last_step, kMost));
  }
  tag->last_step = scalar.step;
  scalar.tag = tag->symbol;
  scalar.kind = tag->meaning.kind;
  scalar.value = value.number * tag->meaning.scale;
  out.emplace_back(std::in_place_type<Scalar>, scalar);
}

TensorBoardDecoder::Tag* TensorBoardDecoder::tag_of(std::string_view name) {
  name_ = name;
  const auto known = tags_.find(name_);
  if (known != tags_.end()) return &known->second;
  if (tags_.size() >= kMaxTags) {
    if (!std::exchange(too_many_reported_, true)) {
      context_.diagnostics.reject(context_.file, RejectReason::cardinality, name);
    }
    return nullptr;
  }
  Tag tag{context_.interner.symbols.intern(name), meaning_of_tag(name, context_.path), kNoStep};
  return &tags_.emplace(name_, tag).first->second;
}

void TensorBoardDecoder::state(StateIo& io) {
  io(splitter_);
  io(tags_);
  io(too_many_reported_);
  io(finished_);
  if (!io.is_loading()) return;
  if (tags_.size() > kMaxTags) return io.fail();
  for (auto& [name, tag] : tags_) tag.meaning = meaning_of_tag(name, context_.path);
}

// The first record of every writer is short and says the version.
Detection detect_tensorboard(const FormatClue& clue) {
  if (clue.kind != FormatClue::Kind::head) return Detection::no;
  if (clue.head.size() < kRecordHeader) {
    // The upper bytes of the length.
    const bool may_be =
        clue.head.find_first_not_of('\0', 2) == std::string_view::npos && clue.head.size() > 4;
    return may_be ? Detection::undecided : Detection::no;
  }
  if (!begins_record(clue.head)) return Detection::no;
  const std::string_view payload = clue.head.substr(kRecordHeader, kMaxFirstRecord);
  if (payload.find(kVersion) != std::string_view::npos) return Detection::yes;
  return payload.size() < kMaxFirstRecord ? Detection::undecided : Detection::no;
}

}  // namespace

extern const Format tensorboard_format = {.name = "tensorboard",
                                          .detect = &detect_tensorboard,
                                          .make = &make_decoder<TensorBoardDecoder>};

}  // namespace trainwatch
