// SPDX-License-Identifier: Apache-2.0
// What NCCL's Inspector plugin writes: an object on each line for a collective, or a send or
// receive, that a communicator has done (versions 4.0 to 4.3). From 4.2 on, header and metadata may
// come once for the lines that follow, with how many were dropped.
//
// They say how fast it was, not when it began, and a rank within its communicator, not that of the
// job. So they give Scalars of the process: the mean bus bandwidth of each kind of call, size of
// communicator and power of two of bytes, over the lines of a dump so far, each time that twice as
// many have come: a few values for thousands of lines, which do not depend on where the bytes end.
#include <algorithm>
#include <bit>
#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/format.h"
#include "pipeline/decode/json_walk.h"
#include "pipeline/decode/line_splitter.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMostSeries = 256;  // of a file; further ones are left out
// Lines whose times are no further apart are of one dump.
constexpr Nanos kOneDump = std::chrono::seconds(1);

// "1MiB": the power of two at or below.
std::string size_class(std::int64_t bytes) {
  constexpr std::string_view kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  const auto power = static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(bytes)) - 1);
  return std::to_string(1U << (power % 10)) + std::string(kUnits[power / 10]);
}

class NcclInspectorDecoder final : public Decoder {
 public:
  explicit NcclInspectorDecoder(const FileContext& context) : context_(context) {}

  void feed(std::string_view bytes, EventBatch& out) override;
  void finish(EventBatch&) override { finished_ = true; }
  void cut_back(std::size_t bytes) override { lines_.cut_back(bytes); }
  bool complete() const override { return false; }
  bool mid_record() const override { return lines_.mid_line(); }
  void state(StateIo& io) override;
  std::uint64_t records() const override { return records_; }
  ByteAccount bytes() const override {
    ByteAccount all = account_;
    all.rejected += lines_.too_long();
    if (finished_) all.structure += lines_.rest().size();
    return all;
  }

 private:
  // What holds for a line, or for those that follow it.
  struct Origin {
    std::string node;
    std::int64_t process = kNoProcess;
    std::int64_t ranks = 0;  // of the communicator
    Time at = kNoTime;
  };
  struct Mean {
    Time began = kNoTime;  // of the dump
    std::uint64_t count = 0;
    double sum = 0;
  };

  Rejection line(std::string_view text, EventBatch& out);
  Rejection read_origin(std::string_view header, std::string_view metadata);
  Rejection performance(std::string_view text, EventBatch& out);
  Rejection dump_statistics(std::string_view text, EventBatch& out);
  void emit(std::string_view tag, double value, EventBatch& out);

  const FileContext& context_;
  LineSplitter lines_;
  Origin origin_;
  std::optional<SubjectId> subject_;  // of origin_; nullopt: not known yet
  std::map<std::string, Mean> means_;
  bool too_many_reported_ = false;
  std::uint64_t records_ = 0;
  ByteAccount account_;
  bool finished_ = false;
};

void NcclInspectorDecoder::feed(std::string_view bytes, EventBatch& out) {
  finished_ = false;
  lines_.feed(
      bytes,
      [&](std::string_view text) {
        const std::size_t size = text.size() + 1;
        if (text.find_first_not_of(" \t\r") == std::string_view::npos) {
          account_.structure += size;
        } else if (const Rejection why = line(text, out)) {
          account_.rejected += size;
          context_.diagnostics.reject(context_.file, *why, text);
        } else {
          account_.records += size;
          ++records_;
        }
      },
      [&](std::string_view beginning) {
        context_.diagnostics.reject(context_.file, RejectReason::too_long, beginning);
      });
}

Rejection NcclInspectorDecoder::line(std::string_view text, EventBatch& out) {
  if (!is_well_formed(text)) return RejectReason::syntax;
  std::string_view header;
  std::string_view metadata;
  std::string_view performed;
  std::string_view statistics;
  each_member(text, [&](std::string_view key, std::string_view value) {
    if (key == "header") header = value;
    if (key == "metadata") metadata = value;
    if (key == "coll_perf" || key == "p2p_perf") performed = value;
    if (key == "dump_stats") statistics = value;
  });
  // Newer ones may have both in the record about the dump.
  each_member(statistics, [&](std::string_view key, std::string_view value) {
    if (key == "header" && header.empty()) header = value;
    if (key == "metadata" && metadata.empty()) metadata = value;
  });
  if (const Rejection why = read_origin(header, metadata)) return why;
  if (!statistics.empty()) return dump_statistics(statistics, out);
  return performed.empty() ? Rejection{} : performance(performed, out);
}

Rejection NcclInspectorDecoder::read_origin(std::string_view header, std::string_view metadata) {
  each_member(header, [this](std::string_view key, std::string_view value) {
    if (key == "n_ranks") origin_.ranks = std::max<std::int64_t>(integer_or(value, 0), 0);
  });
  Origin now = origin_;
  bool bad_time = false;
  each_member(metadata, [&](std::string_view key, std::string_view value) {
    if (key == "hostname") {
      now.node = between_quotes(value).substr(0, SubjectTable::kLongestName);
    } else if (key == "pid") {
      now.process = std::max(integer_or(value, kNoProcess), kNoProcess);
    } else if (key == "dump_timestamp_us") {
      const auto ns = parse_time_ns(value, TimeUnit::microseconds);
      bad_time = !ns || *ns <= 0;
      if (!bad_time) now.at = time_from_ns(*ns);
    }
  });
  if (bad_time || now.at == kNoTime) return RejectReason::time;
  if (now.node != origin_.node || now.process != origin_.process) subject_.reset();
  origin_ = std::move(now);
  if (subject_) return std::nullopt;
  Subject about{context_.job, origin_.node, context_.rank, ""};
  context_.fill_in(about);
  if (about.rank == kNoRank) about.process = origin_.process;
  subject_ = context_.interner.subjects.intern(about);
  return subject_ ? Rejection{} : RejectReason::cardinality;
}

Rejection NcclInspectorDecoder::performance(std::string_view text, EventBatch& out) {
  std::string_view call;
  std::int64_t bytes = 0;
  std::optional<double> bandwidth;
  each_member(text, [&](std::string_view key, std::string_view value) {
    if (key == "coll" || key == "p2p") call = between_quotes(value);
    if (key.ends_with("_msg_size_bytes")) bytes = integer_or(value, 0);
    if (key.ends_with("_busbw_gbs")) bandwidth = parse_number(value);
  });
  if (call.empty() || bytes <= 0 || !bandwidth) return RejectReason::type;
  const std::string tag = "nccl/" + std::string(call.substr(0, 64)) + "/" +
                          std::to_string(origin_.ranks) + " ranks/" + size_class(bytes) +
                          "/busbw_gbs";
  auto known = means_.find(tag);
  if (known == means_.end()) {
    if (means_.size() >= kMostSeries) {
      return std::exchange(too_many_reported_, true) ? Rejection{} : RejectReason::cardinality;
    }
    known = means_.emplace(tag, Mean{}).first;
  }
  Mean& mean = known->second;
  const bool other_dump =
      mean.began == kNoTime || origin_.at < mean.began || origin_.at - mean.began > kOneDump;
  if (other_dump) mean = {.began = origin_.at};
  mean.sum += *bandwidth;
  ++mean.count;
  if (std::has_single_bit(mean.count)) emit(tag, mean.sum / static_cast<double>(mean.count), out);
  return std::nullopt;
}

Rejection NcclInspectorDecoder::dump_statistics(std::string_view text, EventBatch& out) {
  each_member(text, [&](std::string_view key, std::string_view value) {
    const auto dropped = parse_number(value);
    if (key == "dropped" && dropped) emit("nccl/dropped", *dropped, out);
  });
  return std::nullopt;
}

void NcclInspectorDecoder::emit(std::string_view tag, double value, EventBatch& out) {
  Scalar scalar{.at = origin_.at, .value = value, .timed = true};
  scalar.subject = *subject_;
  scalar.tag = context_.interner.symbols.intern(tag);
  out.emplace_back(std::in_place_type<Scalar>, scalar);
}

void NcclInspectorDecoder::state(StateIo& io) {
  io(lines_);
  io(origin_);
  io(means_);
  io(too_many_reported_);
  io(records_);
  io(account_);
  if (!io.is_loading()) return;
  bool good = means_.size() <= kMostSeries && is_possible(origin_.at);
  for (const auto& [tag, mean] : means_) good = good && is_possible(mean.began);
  if (!good) return io.fail();
}

// Its first members; other formats may have a "header", but not one that is followed by what says
// the format of the Inspector.
Detection detect_nccl_inspector(const FormatClue& clue) {
  if (clue.kind != FormatClue::Kind::member) return Detection::no;
  if (clue.key == "dump_stats" || clue.key == "coll_perf" || clue.key == "p2p_perf") {
    return Detection::yes;
  }
  if (clue.key != "metadata") return Detection::no;
  if (!clue.value) return Detection::undecided;
  return clue.value->find("\"inspector_output_format_version\"") != std::string_view::npos
             ? Detection::yes
             : Detection::no;
}

}  // namespace

extern const Format nccl_inspector_format = {.name = "nccl_inspector",
                                             .lines = true,
                                             .detect = &detect_nccl_inspector,
                                             .make = &make_decoder<NcclInspectorDecoder>};

}  // namespace trainwatch
