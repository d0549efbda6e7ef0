// SPDX-License-Identifier: Apache-2.0
// Makes Scalars of a file whose format has nothing but tags: who they are about, what they mean,
// and how many steps a mean is over. Bounded: kMaxTags tags of a file whose meaning is known, and
// as many others, so that a loss that comes behind a thousand others finds room.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "pipeline/decode/decoder.h"
#include "pipeline/decode/scalar_tags.h"

namespace trainwatch {

class TaggedScalars {
 public:
  static constexpr std::size_t kMaxTags = 256;

  // The context outlives the object.
  explicit TaggedScalars(const FileContext& context) : context_(context) {}

  // Call before the values of each record. False: there is no room for its subject.
  bool begin();
  // The same for a file that says whom its values are about.
  void begin(SubjectId subject) {
    emitted_ = false;
    subject_ = subject;
  }
  // Valid after begin() was true.
  SubjectId subject() const { return *subject_; }
  // `at`: nullopt if the record has no time. The first tag too many is rejected, for all of them.
  void emit(std::string_view tag, double value, std::int64_t step, std::optional<Time> at,
            EventBatch& out);
  void state(StateIo& io);

 private:
  struct Tag {
    Symbol symbol{};
    ScalarMeaning meaning;
    std::int64_t last_step = kNoStep;
  };

  // Null: there is no room for another one.
  Tag* find_tag(std::string_view name);
  Tag make_tag(std::string_view name, const ScalarMeaning& meaning) const;
  Tag* add_tag(std::string_view name);

  const FileContext& context_;
  std::map<std::string, Tag, std::less<>> tags_;
  std::optional<SubjectId> subject_;
  std::size_t meaningful_ = 0;  // of tags_
  bool too_many_reported_ = false;
  bool emitted_ = false;  // a value of the record
};

}  // namespace trainwatch
