// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/event_file/tagged_scalars.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "pipeline/decode/scalar_steps.h"

namespace trainwatch {
bool TaggedScalars::begin() {
  emitted_ = false;
  if (!subject_) {
    Subject about{context_.job, "", context_.rank, ""};
    context_.fill_in(about);
    subject_ = context_.interner.subjects.intern(about);
  }
  return subject_.has_value();
}

void TaggedScalars::emit(std::string_view name, double value, std::int64_t step,
                         std::optional<Time> at, EventBatch& out) {
  Tag* const tag = find_tag(name.substr(0, SymbolTable::kLongestName));
  if (tag == nullptr || !subject_) return;
  Scalar scalar;
  scalar.at = at.value_or(context_.written);
  scalar.timed = at.has_value();
  scalar.value = value * tag->meaning.scale;
  scalar.step = std::max(step, kNoStep);
  scalar.subject = *subject_;
  scalar.tag = tag->symbol;
  scalar.steps = tag->meaning.is_mean() ? steps_since(tag->last_step, scalar.step) : 1;
  scalar.kind = tag->meaning.kind;
  if (std::exchange(emitted_, true)) std::get<Scalar>(out.back()).ends_record = false;
  tag->last_step = scalar.step;
  out.emplace_back(std::in_place_type<Scalar>, scalar);
}

TaggedScalars::Tag* TaggedScalars::find_tag(std::string_view name) {
  const auto known = tags_.find(name);
  return known != tags_.end() ? &known->second : add_tag(name);
}

TaggedScalars::Tag* TaggedScalars::add_tag(std::string_view name) {
  const ScalarMeaning meaning = meaning_of_tag(name, context_.path);
  const bool means = meaning.kind != ScalarKind::other;
  const std::size_t alike = means ? meaningful_ : tags_.size() - meaningful_;
  if (alike >= kMaxTags) {
    if (!std::exchange(too_many_reported_, true)) {
      context_.diagnostics.reject(context_.file, RejectReason::cardinality, name);
    }
    return nullptr;
  }
  meaningful_ += means ? 1 : 0;
  return &tags_.emplace(name, make_tag(name, meaning)).first->second;
}

TaggedScalars::Tag TaggedScalars::make_tag(std::string_view name,
                                           const ScalarMeaning& meaning) const {
  return {context_.interner.symbols.intern(name_in_job(name, context_.path)), meaning, kNoStep};
}

void TaggedScalars::state(StateIo& io) {
  std::vector<std::pair<std::string, std::int64_t>> steps;
  for (const auto& [name, tag] : tags_) steps.emplace_back(name, tag.last_step);
  io(steps);
  io(too_many_reported_);
  if (!io.is_loading()) return;
  tags_.clear();
  meaningful_ = 0;
  for (const auto& [name, step] : steps) {
    Tag* const tag = add_tag(name);
    if (tag == nullptr) return io.fail();
    tag->last_step = step;
  }
}

}  // namespace trainwatch
