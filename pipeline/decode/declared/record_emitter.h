// SPDX-License-Identifier: Apache-2.0
// What the records of one file with scalars have in common: whom they are about, when they were
// logged, and how many steps they are the mean of.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "pipeline/decode/declared/declaration.h"
#include "pipeline/decode/declared/named_time.h"
#include "pipeline/decode/declared/scalar_text.h"
#include "pipeline/decode/decoder.h"
#include "pipeline/decode/scalar_steps.h"
#include "trainwatch/state_io.h"

namespace trainwatch {

struct DeclaredRecord {
  std::int64_t step = kNoStep;
  std::int32_t rank = kNoRank;  // as the record says
  std::optional<Time> at;       // the same
  std::string_view node{};      // the same
  bool guessed = false;         // Scalar::guessed
  bool of_epoch = false;        // its step is the number of an epoch
};

// A scalar that no field of a declaration names.
struct OtherTag {
  Symbol symbol{};
  DeclaredField meaning{};          // as its name says
  std::optional<NamedTime> time{};  // the name says only that it is a time
};

class RecordEmitter {
 public:
  explicit RecordEmitter(const FileContext& context) : context_(context) {}

  // Call before the values of each record. False: there is no room for its subject; rejected.
  // `steps`: of the records of this kind.
  bool begin(const DeclaredRecord& record, std::string_view text, RecordSteps& steps);

  // The tag of `field`, which outlives the object.
  Symbol tag_of(const DeclaredField& field);
  // The tag of values that no field of `format` names. Null: there is no room for another one; the
  // first is rejected, for all of them.
  OtherTag* other_tag(std::string_view name, const FormatDeclaration* format = nullptr);
  // `in_ms`: so the value was written.
  void emit_other(OtherTag& tag, double value, bool in_ms, EventBatch& out);
  void emit(const DeclaredField& meaning, Symbol tag, double value, EventBatch& out);

  // Of the record that came last, if there was one.
  bool has_begun() const { return known_.has_value(); }
  Time at() const { return at_; }
  bool is_timed() const { return timed_; }  // that is its own time
  SubjectId subject() const { return subject_; }

  void state(StateIo& io);

 private:
  std::optional<SubjectId> subject_of(const DeclaredRecord& record);

  struct Known {
    std::int32_t rank = kNoRank;
    std::string node;
    std::string path;
    SubjectId id{};
  };

  const FileContext& context_;
  std::optional<Known> known_;
  std::unordered_map<const DeclaredField*, Symbol> tags_;  // of those that came
  std::map<std::string, OtherTag, std::less<>> others_;
  std::size_t meaningful_ = 0;  // of others_
  bool too_many_reported_ = false;
  // Of the record that was begun.
  Time at_{};
  std::int64_t step_ = kNoStep;
  std::uint32_t interval_ = 1;
  SubjectId subject_ = SubjectId::none;
  bool timed_ = false;
  bool guessed_ = false;
  bool of_epoch_ = false;
  bool emitted_ = false;  // a value of it
};

}  // namespace trainwatch
