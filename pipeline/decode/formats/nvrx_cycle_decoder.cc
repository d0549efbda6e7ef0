// SPDX-License-Identifier: Apache-2.0
// `nvrx/cycle_info.<job>.<attempt>.<cycle>` of NVIDIA's resiliency extension: a small JSON document
// that its launcher writes when a cycle, one start of the workers, begins, and replaces when that
// ends. It says when, not why. Held until its last bracket, and read at once.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/format.h"
#include "pipeline/decode/json_walk.h"
#include "trainwatch/run_note.h"

namespace trainwatch {
namespace {

// Each bracket in it is tried as the last one.
constexpr std::size_t kMostCycleBytes = std::size_t{16} << 10U;

// "2026-11-29T15:47:59.123456+00:00", as Python prints a time of UTC, or with a "Z".
Time cycle_time(std::string_view token) {
  std::string text(between_quotes(token));
  constexpr std::string_view kUtc = "+00:00";
  if (text.ends_with(kUtc)) text.replace(text.size() - kUtc.size(), kUtc.size(), "Z");
  return time_from_rfc3339(text);
}

class NvrxCycleDecoder final : public Decoder {
 public:
  explicit NvrxCycleDecoder(const FileContext& context) : context_(context) {}

  void feed(std::string_view bytes, EventBatch& out) override;
  void finish(EventBatch&) override;
  void cut_back(std::size_t bytes) override {
    held_.resize(held_.size() - std::min(bytes, held_.size()));
  }
  bool complete() const override { return over_; }
  bool mid_record() const override { return !held_.empty(); }
  void state(StateIo& io) override;
  std::uint64_t records() const override { return records_; }
  ByteAccount bytes() const override {
    ByteAccount all = account_;
    if (finished_) all.rejected += held_.size();
    return all;
  }

 private:
  struct Cycle {
    std::string_view job, number, began, ended;
  };

  Rejection read(EventBatch& out);
  void add(RunNote note, EventBatch& out);
  void end(const Rejection& why);

  const FileContext& context_;
  std::string held_;
  bool over_ = false;      // the document was read, or refused
  bool finished_ = false;  // finish() has rejected what is held
  std::uint64_t records_ = 0;
  ByteAccount account_;
};

void NvrxCycleDecoder::feed(std::string_view bytes, EventBatch& out) {
  finished_ = false;
  for (const char c : bytes) {
    if (over_) {
      ++account_.structure;
      continue;
    }
    held_ += c;
    if (held_.size() > kMostCycleBytes) {
      end(RejectReason::too_long);
    } else if (c == '}' && is_well_formed(held_)) {
      end(read(out));
    }
  }
}

void NvrxCycleDecoder::finish(EventBatch&) {
  const bool empty = held_.find_first_not_of(" \t\r\n") == std::string::npos;
  if (empty || std::exchange(finished_, true)) return;
  context_.diagnostics.reject(context_.file, RejectReason::syntax, held_);
}

Rejection NvrxCycleDecoder::read(EventBatch& out) {
  Cycle cycle;
  each_member(held_, [&cycle](std::string_view key, std::string_view value) {
    if (key == "job_id") cycle.job = between_quotes(value);
    if (key == "cycle_number") cycle.number = plain_token(value);
    if (key == "cycle_start_time") cycle.began = value;
    if (key == "cycle_end_time") cycle.ended = value;
  });
  const Time began = cycle_time(cycle.began);
  if (began == kNoTime) return RejectReason::time;
  const Subject about{context_.job_of(cycle.job), "", kNoRank, ""};
  const auto subject = context_.interner.subjects.intern(about);
  if (!subject) return RejectReason::cardinality;
  if (const auto number = parse_number(cycle.number)) {
    Scalar scalar{.at = began, .value = *number, .subject = *subject, .timed = true};
    scalar.tag = context_.interner.symbols.intern("nvrx/cycle");
    out.emplace_back(std::in_place_type<Scalar>, scalar);
  }
  add({.at = began, .kind = RunNote::Kind::launched, .subject = *subject}, out);
  const Time ended = cycle_time(cycle.ended);
  if (ended == kNoTime) return std::nullopt;  // it has not
  RunNote note{.at = ended, .kind = RunNote::Kind::end_evidence, .subject = *subject};
  // Whatever else says how it ended says more.
  note.end = EndEvidence{.weight = EndWeight::consequence};
  note.end->text = "NVRx: cycle " + valid_name(cycle.number, 32) + " has ended";
  note.end->file = context_.path;
  add(std::move(note), out);
  return std::nullopt;
}

void NvrxCycleDecoder::add(RunNote note, EventBatch& out) {
  if (context_.run_notes == nullptr) return;
  out.emplace_back(context_.run_notes->add(std::move(note)));
}

void NvrxCycleDecoder::end(const Rejection& why) {
  over_ = true;
  (why ? account_.rejected : account_.records) += held_.size();
  if (why) {
    context_.diagnostics.reject(context_.file, *why, held_);
  } else {
    ++records_;
  }
  held_.clear();
  held_.shrink_to_fit();
}

void NvrxCycleDecoder::state(StateIo& io) {
  io(held_);
  io(over_);
  io(finished_);
  io(records_);
  io(account_);
  if (held_.size() > kMostCycleBytes) io.fail();
}

Detection detect_nvrx_cycle(const FormatClue& clue) {
  const bool named = clue.kind == FormatClue::Kind::member &&
                     (clue.key == "cycle_start_time" || clue.key == "cycle_number");
  return named ? Detection::yes : Detection::no;
}

}  // namespace

extern const Format nvrx_cycle_format = {
    .name = "nvrx_cycle", .detect = &detect_nvrx_cycle, .make = &make_decoder<NvrxCycleDecoder>};

}  // namespace trainwatch
