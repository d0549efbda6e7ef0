// SPDX-License-Identifier: Apache-2.0
// A dump of PyTorch's Flight Recorder: one pickle or JSON object a file, of one rank. It is written
// in one go and says nothing before its end, so it is held until then and read at once. Much of it
// is not part of the state: a restart reads the file anew.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "pipeline/decode/flight_recorder/flight_dump.h"
#include "pipeline/decode/format.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMostSaved = std::size_t{256} << 10U;
constexpr std::size_t kMostDumpBytes = std::size_t{32} << 20U;

class FlightRecorderDecoder final : public Decoder {
 public:
  explicit FlightRecorderDecoder(const FileContext& context) : context_(context) {}

  void feed(std::string_view bytes, EventBatch&) override {
    ended_ = false;
    if (over_ || lost_) return follow(bytes);
    held_ += bytes;
    if (held_.size() > kMostDumpBytes) {
      context_.diagnostics.reject(context_.file, RejectReason::too_long, held_);
      account_.rejected += held_.size();
      return end();
    }
    const auto last = held_.find_last_not_of(" \t\r\n");
    if (last == std::string::npos || (held_[last] != '.' && held_[last] != '}')) return;
    read();
  }
  // Only now is it certain that what is damaged will not be made whole.
  void finish(EventBatch&) override {
    if (over_ || held_.empty() || ended_ || read()) return;
    ended_ = true;
    context_.diagnostics.reject(context_.file, RejectReason::syntax, held_);
  }
  void cut_back(std::size_t bytes) override {
    held_.resize(held_.size() - std::min(bytes, held_.size()));
  }
  bool complete() const override { return over_ && !strange_; }
  bool mid_record() const override { return !held_.empty(); }
  void state(StateIo& io) override {
    bool lost = lost_ || held_.size() > kMostSaved;
    io(lost);
    if (io.is_loading()) lost_ = lost;
    std::string nothing;
    io(lost ? nothing : held_);
    io(over_);
    io(ended_);
    io(strange_);
    io(records_);
    io(account_);
  }
  bool needs_replay() const override { return lost_; }
  void take_unsaved(Decoder& old) override {
    auto& other = static_cast<FlightRecorderDecoder&>(old);
    held_ = std::move(other.held_);
    lost_ = other.lost_;
  }
  std::size_t unsaved_bytes() const override {
    return held_.size() > kMostSaved ? held_.capacity() : 0;
  }
  std::uint64_t records() const override { return records_; }
  ByteAccount bytes() const override {
    ByteAccount all = account_;
    if (ended_) all.rejected += held_.size();
    return all;
  }

 private:
  // False: what is held is no dump, or not yet.
  bool read() {
    FlightDumpResult read = read_flight_dump(held_);
    if (read.end != FlightDumpResult::End::whole) return false;
    const std::string rest = held_.substr(read.bytes);
    const auto rank =
        context_.rank != kNoRank ? std::optional(context_.rank) : rank_of_dump(context_.path);
    if (rank) {
      ++records_;
      account_.records += read.bytes;
      read.dump.rank = *rank;
      read.dump.written = time_of_dump(read.dump, context_.written);
      read.dump.copied = read.dump.written != context_.written;
      if (context_.dumps != nullptr) context_.dumps->dump(context_.job, std::move(read.dump));
    } else {
      context_.diagnostics.reject(context_.file, RejectReason::type, held_);
      account_.rejected += read.bytes;
    }
    end();
    follow(rest);
    return true;
  }
  // Nothing may follow a dump.
  void follow(std::string_view bytes) {
    const auto space = static_cast<std::uint64_t>(std::ranges::count_if(
        bytes, [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }));
    account_.structure += space;
    account_.skipped += bytes.size() - space;
    if (space == bytes.size() || std::exchange(strange_, true)) return;
    context_.diagnostics.reject(context_.file, RejectReason::syntax, bytes);
  }
  void end() {
    over_ = true;
    held_.clear();
    held_.shrink_to_fit();
  }

  const FileContext& context_;
  std::string held_;
  bool lost_ = false;     // what was held, as the state was loaded
  bool over_ = false;     // the dump was read, or refused
  bool ended_ = false;    // finish() has rejected what is held
  bool strange_ = false;  // something that follows it has been rejected
  std::uint64_t records_ = 0;
  ByteAccount account_;
};

Detection detect_flight_recorder(const FormatClue& clue) {
  constexpr std::size_t kWithin = 4096;
  if (clue.kind == FormatClue::Kind::head) {
    if (!clue.head.starts_with('\x80')) return Detection::no;
    if (begins_flight_dump(clue.head)) return Detection::yes;
    return clue.head.size() < kWithin ? Detection::undecided : Detection::no;
  }
  if (clue.kind != FormatClue::Kind::member) return Detection::no;
  if (clue.key == "pg_config" || clue.key == "pg_status") return Detection::yes;
  // Its keys are sorted, and the list of operations may be long.
  const bool operations =
      clue.key == "entries" && clue.head.find("\"collective_seq_id\"") != std::string_view::npos;
  return operations ? Detection::yes : Detection::no;
}

}  // namespace

extern const Format flight_recorder_format = {.name = "flight_recorder",
                                              .detect = &detect_flight_recorder,
                                              .make = &make_decoder<FlightRecorderDecoder>};

}  // namespace trainwatch
