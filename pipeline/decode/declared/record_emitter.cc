// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/declared/record_emitter.h"

#include <algorithm>
#include <utility>

#include "pipeline/decode/scalar_tags.h"

namespace trainwatch {

namespace {

// What a declaration names itself: "loss" is the loss, and "loss_cls" only a part of it.
bool has_field_of(const FormatDeclaration& format, ScalarKind kind) {
  return std::ranges::find(format.fields, kind, &DeclaredField::kind) != format.fields.end();
}

}  // namespace

bool RecordEmitter::begin(const DeclaredRecord& record, std::string_view text, RecordSteps& steps) {
  const auto subject = subject_of(record);
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
  guessed_ = record.guessed;
  of_epoch_ = record.of_epoch;
  steps.advance(record.step);
  interval_ = steps.interval;
  subject_ = *subject;
  emitted_ = false;
  return true;
}

Symbol RecordEmitter::tag_of(const DeclaredField& field) {
  Symbol& tag = tags_[&field];
  if (tag == Symbol::none) {
    tag = context_.interner.symbols.intern(field.tag.empty() ? field.key : field.tag);
  }
  return tag;
}

OtherTag* RecordEmitter::other_tag(std::string_view name, const FormatDeclaration* format) {
  name = name.substr(0, SymbolTable::kLongestName);
  const auto found = others_.find(name);
  if (found != others_.end()) return &found->second;
  ScalarMeaning meaning = meaning_of_tag(name, context_.path);
  if (format != nullptr && has_field_of(*format, meaning.kind)) meaning = {};
  const bool means = meaning.kind != ScalarKind::other;
  const std::size_t alike = means ? meaningful_ : others_.size() - meaningful_;
  if (alike >= kMostOtherTags) {
    if (!std::exchange(too_many_reported_, true)) {
      context_.diagnostics.reject(context_.file, RejectReason::cardinality, name);
    }
    return nullptr;
  }
  meaningful_ += means ? 1 : 0;
  OtherTag tag{context_.interner.symbols.intern(name)};
  tag.meaning.kind = meaning.kind;
  tag.meaning.scale = meaning.scale;
  tag.meaning.interval = meaning.is_mean();
  if (!means && NamedTime::is_name(name, of_epoch_)) tag.time.emplace();
  return &others_.emplace(name, std::move(tag)).first->second;
}

void RecordEmitter::emit_other(OtherTag& tag, double value, bool in_ms, EventBatch& out) {
  if (!tag.time) return emit(tag.meaning, tag.symbol, value, out);
  DeclaredField meaning;
  meaning.kind = tag.time->kind_of(value, in_ms, interval_);
  meaning.interval = ScalarMeaning{meaning.kind}.is_mean();
  emit(meaning, tag.symbol, value, out);
}

void RecordEmitter::emit(const DeclaredField& meaning, Symbol tag, double value, EventBatch& out) {
  if (std::exchange(emitted_, true)) std::get<Scalar>(out.back()).ends_record = false;
  auto& scalar = std::get<Scalar>(out.emplace_back(std::in_place_type<Scalar>));
  scalar.at = at_;
  scalar.value = value * meaning.scale / (meaning.total ? interval_ : 1);
  scalar.step = step_;
  scalar.subject = subject_;
  scalar.tag = tag;
  scalar.steps = meaning.interval || meaning.total ? interval_ : 1;
  scalar.kind = meaning.kind;
  scalar.timed = timed_;
  scalar.guessed = guessed_;
  scalar.of_epoch = of_epoch_;
}

std::optional<SubjectId> RecordEmitter::subject_of(const DeclaredRecord& record) {
  const bool same = known_ && known_->rank == record.rank && known_->node == record.node &&
                    known_->path == context_.path;
  if (same) return known_->id;
  std::int32_t rank = context_.rank != kNoRank ? context_.rank : record.rank;
  if (rank == kNoRank) rank = rank_of_log(context_.path);
  Subject about{context_.job, std::string(record.node), rank, ""};
  context_.fill_in(about);
  const auto id = context_.interner.subjects.intern(about);
  if (id) known_ = {record.rank, std::string(record.node), context_.path, *id};
  return id;
}

void RecordEmitter::state(StateIo& io) {
  std::vector<std::pair<std::string, std::optional<NamedTime>>> others;
  for (const auto& [name, tag] : others_) others.emplace_back(name, tag.time);
  io(others);
  io(too_many_reported_);
  bool known = known_.has_value();
  Known about = known_.value_or(Known{});
  io(known);
  io(about.rank);
  io(about.node);
  io(at_);
  if (!io.is_loading()) return;
  if (others.size() > 2 * kMostOtherTags || !is_possible(at_)) return io.fail();
  known_.reset();
  const auto subject = known ? subject_of({.rank = about.rank, .node = about.node}) : std::nullopt;
  subject_ = subject.value_or(SubjectId::none);
  others_.clear();
  meaningful_ = 0;
  for (const auto& [name, time] : others) {
    if (OtherTag* const tag = other_tag(name)) tag->time = time;
  }
}

}  // namespace trainwatch
