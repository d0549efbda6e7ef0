// What the records of one file with scalars have in common: whom they are about, when they were
// logged, and how many steps they are the mean of.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "pipeline/decode/declared/declaration.h"
#include "pipeline/decode/declared/scalar_text.h"
#include "pipeline/decode/decoder.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

struct DeclaredRecord {
  std::int64_t step = kNoStep;
  std::int32_t rank = kNoRank;  // as the record says
  std::optional<Time> at;       // the same
};

class RecordEmitter {
 public:
  explicit RecordEmitter(const FileContext& context) : context_(context) {}

  // Call before the values of each record. False: there is no room for its subject; rejected.
  bool begin(const DeclaredRecord& record, std::string_view text) {
    const auto subject = subject_of(record.rank);
    if (!subject) {
      context_.diagnostics.reject(context_.file, RejectReason::cardinality, text);
      return false;
    }
    // A clock ahead of the file's is of another zone.
    constexpr Nanos kZone = std::chrono::hours(1);
    const bool known_end = context_.written != Time{};
    timed_ = record.at && (!known_end || *record.at <= context_.written + kZone);
    at_ = timed_ ? *record.at : context_.written;
    step_ = record.step;
    if (record.step != last_step_) interval_ = steps_since(record.step);
    if (record.step != kNoStep) last_step_ = record.step;
    subject_ = *subject;
    emitted_ = false;
    return true;
  }

  void emit(const DeclaredField& field, std::string_view tag, double value, EventBatch& out) {
    Scalar scalar;
    scalar.at = at_;
    scalar.value = value * field.scale;
    scalar.step = step_;
    scalar.subject = subject_;
    scalar.tag = context_.interner.symbols.intern(tag);
    scalar.steps = field.interval ? interval_ : 1;
    scalar.kind = field.kind;
    scalar.timed = timed_;
    if (std::exchange(emitted_, true)) std::get<Scalar>(out.back()).ends_record = false;
    out.emplace_back(scalar);
  }

  Time at() const { return at_; }
  SubjectId subject() const { return subject_; }

  void state(StateIo& io) {
    io(last_step_);
    io(interval_);
  }

 private:
  // The first record may follow any number of steps: two stands for "more than one".
  std::uint32_t steps_since(std::int64_t step) const {
    if (step <= 1) return 1;
    if (last_step_ == kNoStep || step <= last_step_) return 2;
    return static_cast<std::uint32_t>(std::min<std::int64_t>(step - last_step_, 1 << 30));
  }

  std::optional<SubjectId> subject_of(std::int32_t said) {
    std::int32_t rank = context_.rank != kNoRank ? context_.rank : said;
    if (rank == kNoRank) rank = rank_of_log(context_.path);
    if (known_ && known_->first == rank) return known_->second;
    const auto id = context_.interner.subjects.intern({context_.job, "", rank, ""});
    if (id) known_ = {rank, *id};
    return id;
  }

  const FileContext& context_;
  std::optional<std::pair<std::int32_t, SubjectId>> known_;
  std::int64_t last_step_ = kNoStep;
  std::uint32_t interval_ = 1;
  // Of the record that was begun.
  Time at_{};
  std::int64_t step_ = kNoStep;
  SubjectId subject_ = SubjectId::none;
  bool timed_ = false;
  bool emitted_ = false;  // a value of it
};

}  // namespace trainwatch
