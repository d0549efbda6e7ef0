// SPDX-License-Identifier: Apache-2.0
// What `nvidia-smi --query-gpu=... --format=csv -l 1` and `nvidia-smi dmon` write: a row for each
// GPU and moment -> Samples, as of system metrics.
//
//  * Times are in the local zone. A row without one has the time of the last write.
//  * A header may come again: dmon repeats it, and so does a program that was started again.
//  * A row counts when it has ended: the last one may be torn.
#include <map>
#include <string>
#include <utility>

#include "pipeline/decode/declared/scalar_text.h"
#include "pipeline/decode/format.h"
#include "pipeline/decode/line_splitter.h"
#include "pipeline/decode/metric_series.h"
#include "pipeline/decode/nvidia_smi_table.h"
#include "trainwatch/time.h"

namespace trainwatch {
namespace {

constexpr std::size_t kMostSmiSeries = 4096;  // remembered

class NvidiaSmiDecoder final : public Decoder {
 public:
  explicit NvidiaSmiDecoder(const FileContext& context) : context_(context) {}

  void feed(std::string_view bytes, EventBatch& out) override;
  void finish(EventBatch&) override { finished_ = true; }
  void cut_back(std::size_t bytes) override { lines_.cut_back(bytes); }
  bool complete() const override { return false; }
  bool mid_record() const override { return lines_.mid_line(); }
  void state(StateIo& io) override;
  std::size_t unsaved_bytes() const override {
    constexpr std::size_t kOfNode = 128;
    return series_.size() * kOfNode;
  }
  std::uint64_t records() const override { return records_; }
  ByteAccount bytes() const override {
    ByteAccount all = account_;
    all.rejected += lines_.too_long();
    if (finished_) all.structure += lines_.rest().size();
    return all;
  }

 private:
  void line(std::string_view text, EventBatch& out);
  Rejection row(std::string_view text, EventBatch& out);
  std::optional<Time> time_of_row();
  std::optional<Time> time_of_day() const;
  std::optional<SeriesOfSample> series_of(std::string_view dimension);

  const FileContext& context_;
  LineSplitter lines_;
  SmiTable table_;
  SmiRow row_;  // reused
  std::map<std::pair<std::string, std::string_view>, SeriesOfSample> series_;
  std::uint64_t records_ = 0;
  ByteAccount account_;
  LocalClock clock_;
  bool finished_ = false;
};

void NvidiaSmiDecoder::feed(std::string_view bytes, EventBatch& out) {
  finished_ = false;
  lines_.feed(
      bytes, [&](std::string_view text) { line(text, out); },
      [&](std::string_view beginning) {
        context_.diagnostics.reject(context_.file, RejectReason::too_long, beginning);
      });
}

void NvidiaSmiDecoder::line(std::string_view text, EventBatch& out) {
  const std::size_t bytes = text.size() + 1;
  if (!table_.known() && text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const bool blank = text.find_first_not_of(" \t\r") == std::string_view::npos;
  if (blank || table_.take_header(text) == SmiTable::Header::names || SmiTable::is_comment(text)) {
    account_.structure += bytes;
    return;
  }
  if (const Rejection reason = row(text, out)) {
    context_.diagnostics.reject(context_.file, *reason, text);
    account_.rejected += bytes;
    return;
  }
  account_.records += bytes;
  ++records_;
}

Rejection NvidiaSmiDecoder::row(std::string_view text, EventBatch& out) {
  if (!table_.read(text, row_)) return RejectReason::syntax;
  const auto at = time_of_row();
  if (!at) return RejectReason::time;
  for (const SmiRow::Figure& figure : row_.figures) {
    const auto series = series_of(figure.dimension);
    if (!series) return RejectReason::cardinality;
    out.emplace_back(std::in_place_type<Sample>,
                     Sample{*at, figure.value, series->id, series->resource});
  }
  return std::nullopt;
}

std::optional<Time> NvidiaSmiDecoder::time_of_row() {
  if (!row_.date.empty() && !row_.clock.empty()) {
    return clock_.read(row_.date + " " + row_.clock);
  }
  if (context_.written == Time{}) return std::nullopt;
  return row_.clock.empty() ? std::optional(context_.written) : time_of_day();
}

// `dmon -o T` has no date: the latest such time that is not after the last write.
std::optional<Time> NvidiaSmiDecoder::time_of_day() const {
  constexpr auto kDay = std::chrono::days(1);
  std::optional<Time> latest;
  for (Time day = context_.written - kDay; day <= context_.written + kDay; day += kDay) {
    const auto at = local_time(to_rfc3339(day).substr(0, 10) + " " + row_.clock);
    if (at && *at < context_.written + std::chrono::seconds(1)) latest = at;
  }
  return latest;
}

std::optional<SeriesOfSample> NvidiaSmiDecoder::series_of(std::string_view dimension) {
  const auto known = series_.find({row_.gpu, dimension});
  if (known != series_.end()) return known->second;
  const auto series = intern_series(context_, {{}, "gpu", row_.gpu, dimension});
  if (series_.size() == kMostSmiSeries) series_.clear();
  if (series) series_.emplace(std::pair{row_.gpu, dimension}, *series);
  return series;
}

void NvidiaSmiDecoder::state(StateIo& io) {
  std::string header = table_.header();
  io(header);
  io(lines_);
  io(records_);
  io(account_);
  io(clock_);
  if (!io.is_loading() || header.empty()) return;
  if (table_.take_header(header) == SmiTable::Header::none) io.fail();
}

Detection detect_table(const FormatClue& clue) {
  return clue.kind == FormatClue::Kind::head ? detect_nvidia_smi(clue.head) : Detection::no;
}

}  // namespace

extern const Format nvidia_smi_format = {.name = "nvidia_smi",
                                         .lines = true,
                                         .detect = &detect_table,
                                         .make = &make_decoder<NvidiaSmiDecoder>};

}  // namespace trainwatch
