// SPDX-License-Identifier: Apache-2.0
#include "pipeline/analysis/core/waiting_steps.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>

namespace trainwatch {
namespace {

// The fields of 64 bits that most steps have, start and duration first: see end_of_front().
constexpr std::size_t kCommonNumbers = 8;
template <class AnyStep, class Use>
constexpr void for_common(AnyStep& step, Use&& use) {
  use(step.start);
  use(step.duration);
  use(step.begin);
  use(step.number);
  use(step.pace.usual);
  use(step.pace.sigma);
  use(step.pace.limit);
  use(step.pace.longest);
}

// The others.
constexpr std::size_t kRareNumbers = 12;
template <class AnyStep, class Use>
constexpr void for_rare(AnyStep& step, Use&& use) {
  use(step.data_wait);
  use(step.evaluation);
  use(step.forward);
  use(step.backward);
  use(step.optimizer);
  use(step.pace.recent);
  use(step.pace.reference);
  use(step.pace.changed_at);
  use(step.pace.changed_step);
  use(step.pace.rise_step);
  use(step.pace.rise);
  use(step.pace.scale);
}
// A new field of a step belongs above, or into the head; `world` does not, as it is only used when
// an attempt opens.
static_assert(sizeof(Pace) == 88 && sizeof(Step) == 192);

constexpr std::size_t kMostWords = 1 + kCommonNumbers + kRareNumbers + 1;  // of a step

using RareNumbers = std::array<std::uint64_t, kRareNumbers>;

constexpr RareNumbers rare_numbers_of(const Step& step) {
  RareNumbers numbers{};
  std::size_t place = 0;
  for_rare(step,
           [&](const auto& field) { numbers[place++] = std::bit_cast<std::uint64_t>(field); });
  return numbers;
}

constexpr RareNumbers kUsualNumbers = rare_numbers_of(Step{});

// The first word of a step, from its lowest bit on: which of the rare numbers follow the common
// ones, whether its counts do, flags, mode, origin, and in the upper half the subject.
constexpr std::uint64_t kHasCounts = std::uint64_t{1} << kRareNumbers;
constexpr std::uint64_t kHasMore = 2 * kHasCounts - 1;
constexpr unsigned kFlagsAt = kRareNumbers + 1;
constexpr unsigned kModeAt = kFlagsAt + 3;
constexpr unsigned kOriginAt = kModeAt + 4;
constexpr unsigned kSubjectAt = 32;
static_assert(static_cast<unsigned>(Mode::count_) <= 16 && kOriginAt + 4 <= kSubjectAt);
static_assert(static_cast<unsigned>(Origin::count_) <= 16);

std::uint64_t head_of(const Step& step) {
  const auto flags = static_cast<std::uint64_t>(
      (step.opens_attempt ? 1U : 0U) | (step.restarts ? 2U : 0U) | (step.opens_epoch ? 4U : 0U));
  return flags << kFlagsAt | static_cast<std::uint64_t>(step.mode) << kModeAt |
         static_cast<std::uint64_t>(step.origin) << kOriginAt |
         static_cast<std::uint64_t>(step.subject) << kSubjectAt |
         (step.steps != 1 || step.attempt != 1 ? kHasCounts : 0);
}

void read_head(std::uint64_t head, Step& step) {
  step.opens_attempt = (head >> kFlagsAt & 1U) != 0;
  step.restarts = (head >> kFlagsAt & 2U) != 0;
  step.opens_epoch = (head >> kFlagsAt & 4U) != 0;
  step.mode = static_cast<Mode>(head >> kModeAt & 15U);
  step.origin = static_cast<Origin>(head >> kOriginAt & 15U);
  step.subject = static_cast<SubjectId>(head >> kSubjectAt);
}

std::size_t words_of(std::uint64_t head) {
  return 1 + kCommonNumbers + static_cast<std::size_t>(std::popcount(head & kHasMore));
}

Step unpacked(const std::uint64_t* word) {
  Step step;
  const std::uint64_t head = *word++;
  read_head(head, step);
  for_common(step, [&]<class Field>(Field& field) { field = std::bit_cast<Field>(*word++); });
  if ((head & kHasMore) == 0) return step;
  std::uint64_t bit = 1;
  for_rare(step, [&]<class Field>(Field& field) {
    if ((head & bit) != 0) field = std::bit_cast<Field>(*word++);
    bit <<= 1U;
  });
  if ((head & kHasCounts) == 0) return step;
  step.steps = static_cast<std::uint32_t>(*word >> 32U);
  step.attempt = static_cast<std::uint32_t>(*word);
  return step;
}

}  // namespace

void WaitingSteps::push_back(const Step& step) {
  std::array<std::uint64_t, kMostWords> packed;
  std::size_t count = 1;
  std::uint64_t head = head_of(step);
  for_common(step,
             [&](const auto& field) { packed[count++] = std::bit_cast<std::uint64_t>(field); });
  const RareNumbers numbers = rare_numbers_of(step);
  std::uint64_t differs = 0;  // in any
  for (std::size_t i = 0; i < kRareNumbers; ++i) differs |= numbers[i] ^ kUsualNumbers[i];
  for (std::size_t i = 0; differs != 0 && i < kRareNumbers; ++i) {
    if (numbers[i] == kUsualNumbers[i]) continue;
    packed[count++] = numbers[i];
    head |= std::uint64_t{1} << i;
  }
  if ((head & kHasCounts) != 0) packed[count++] = std::uint64_t{step.steps} << 32U | step.attempt;
  packed[0] = head;
  make_room(count);
  words_.insert(words_.end(), packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(count));
  newest_end_ = step.end();
  if (size_++ == 0) oldest_end_ = newest_end_;
}

// Where words were taken from, the others are moved to the front. A fifth stays free, so that this
// is not done for every step; more than half is too much.
void WaitingSteps::make_room(std::size_t words) {
  if (words_.size() + words <= words_.capacity()) return;
  const std::size_t needed = words_.size() - first_ + words;
  const std::size_t wanted = std::max(needed + needed / 4, 2 * kMostWords);
  const auto begin = words_.begin() + static_cast<std::ptrdiff_t>(first_);
  if (words_.capacity() >= wanted && words_.capacity() <= 2 * wanted) {
    words_.erase(words_.begin(), begin);
  } else {
    std::vector<std::uint64_t> moved;
    moved.reserve(wanted);
    moved.insert(moved.end(), begin, words_.end());
    words_ = std::move(moved);
  }
  first_ = 0;
}

Step WaitingSteps::front() const {
  assert(!empty());
  return unpacked(words_.data() + first_);
}

void WaitingSteps::pop_front() {
  assert(!empty());
  first_ += words_of(words_[first_]);
  ++first_number_;
  if (--size_ > 0) {
    oldest_end_ = end_of_front();
  } else {
    words_.clear();
    first_ = 0;
  }
}

// Asked for with every step that comes.
Time WaitingSteps::end_of_front() const {
  return std::bit_cast<Time>(words_[first_ + 1]) + std::bit_cast<Nanos>(words_[first_ + 2]);
}

void WaitingSteps::state(StateIo& io) {
  std::uint64_t end = first_number_ + size_;
  io(first_number_);
  io(end);
  if (!io.is_loading()) return;
  saved_to_ = end;
  first_row_ = first_number_ / kPerRow;
}

void WaitingSteps::save(StateRows& rows, const std::string& prefix, bool all) {
  const std::uint64_t end_row = (saved_to_ + kPerRow - 1) / kPerRow;
  for (; first_row_ < std::min(first_number_ / kPerRow, end_row); ++first_row_) {
    rows.remove(numbered_row(prefix, first_row_));
  }
  first_row_ = first_number_ / kPerRow;
  const std::uint64_t from = all ? 0 : saved_to_ / kPerRow * kPerRow;
  saved_to_ = first_number_ + size_;
  std::size_t word = first_;
  for (std::uint64_t number = first_number_; number < saved_to_;) {
    const std::uint64_t row = number / kPerRow;
    const std::size_t begin = word;
    std::uint64_t next = number;
    for (; next < saved_to_ && next / kPerRow == row; ++next) word += words_of(words_[word]);
    if (number >= from) {
      rows.put(numbered_row(prefix, row), [&](StateIo& io) {
        std::vector<std::uint64_t> words(words_.data() + begin, words_.data() + word);
        SubjectId subject = unpacked(words.data()).subject;
        io(subject);
        io(number);
        io(words);
      });
    }
    number = next;
  }
}

WaitingSteps::Row WaitingSteps::load_row(StateIo& io) {
  Row row;
  std::vector<std::uint64_t> words;
  io(row.subject);
  io(row.number);
  io(words);
  if (io.take_gone()) return row;
  for (std::size_t at = 0; at < words.size() && io.ok();) {
    const std::size_t size = words_of(words[at]);
    if (size > words.size() - at) {
      io.fail();
      break;
    }
    Step& step = row.steps.emplace_back(unpacked(words.data() + at));
    step.subject = row.subject;
    if (step.mode >= Mode::count_ || step.origin >= Origin::count_ || step.steps == 0) io.fail();
    at += size;
  }
  if (row.steps.empty()) io.fail();
  return row;
}

bool WaitingSteps::add(const Row& row) {
  std::uint64_t number = row.number;
  for (const Step& step : row.steps) {
    if (number++ < first_number_) continue;
    if (number - 1 != first_number_ + size_) return false;
    push_back(step);
  }
  return true;
}

}  // namespace trainwatch
