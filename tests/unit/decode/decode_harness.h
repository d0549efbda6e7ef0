// SPDX-License-Identifier: Apache-2.0
// Decodes text as a file and describes what came out as lines of text, so that runs with different
// cuts, and different vocabularies, compare with ==.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/decode/file_decoder.h"
#include "pipeline/decode/flight_recorder/flight_dump.h"
#include "pipeline/decode/formats/format_catalog.h"
#include "support/gzip.h"
#include "trainwatch/tensor.h"

namespace trainwatch::testing {

class RecordingDiagnostics final : public Diagnostics {
 public:
  void reject(FileId, RejectReason reason, std::string_view) override {
    reasons.emplace_back(to_string(reason));
  }
  std::vector<std::string> reasons;
};

inline std::string describe(const Event& event, const Interner& names) {
  const auto subject = [&](SubjectId id) {
    const Subject& who = names.subjects[id];
    return who.job + "/" + who.node + "/" + std::to_string(who.rank) + "/" + who.gpu;
  };
  const auto number = [](auto value) { return std::to_string(static_cast<std::int64_t>(value)); };
  std::string text;
  if (const auto* span = std::get_if<Span>(&event)) {
    text = "span " + number(to_ns(span->start)) + " +" + number(span->duration.count()) +
           " step=" + number(span->step) + " " + subject(span->subject) + " '" +
           std::string{names.text(span->name)} + "' in '" + std::string{names.text(span->phase)} +
           "' worker=" + number(span->worker) + " pid=" + number(span->process) +
           " kind=" + number(span->kind) + " mode=" + number(span->mode) +
           " origin=" + number(span->origin);
    if (span->thread != kNoThread) text += " thread=" + number(span->thread);
    if (span->layer != Symbol::none) text += " layer=" + std::string{names.text(span->layer)};
  } else if (const auto* sample = std::get_if<Sample>(&event)) {
    const Series& series = names.series[sample->series];
    text = "sample " + number(to_ns(sample->at)) + " " + std::to_string(sample->value) + " " +
           subject(series.subject) + " " + std::string{names.text(series.type)} + "/" +
           std::string{names.text(series.name)} + "/" + std::string{names.text(series.dimension)} +
           " resource=" + number(sample->resource) + " device=" + number(series.device);
  } else if (const auto* note = std::get_if<SourceNote>(&event)) {
    text = "note " + number(note->kind) + " lane=" + number(note->lane) + " at " +
           number(to_ns(note->at));
  } else if (const auto* scalar = std::get_if<Scalar>(&event)) {
    text = "scalar " + number(to_ns(scalar->at)) + (scalar->timed ? " timed " : " ") +
           std::string{names.text(scalar->tag)} + "=" + std::to_string(scalar->value) +
           " step=" + number(scalar->step) + " of " + number(scalar->steps) + " " +
           subject(scalar->subject) + " kind=" + std::string{to_string(scalar->kind)};
  } else {
    text = "unexpected";
  }
  return text;
}

struct Outcome {
  std::vector<std::string> events;
  std::vector<std::string> rejects;
  std::uint64_t records = 0;
  std::string format;
  bool complete = false;  // before finish()
  bool operator==(const Outcome&) const = default;
};

inline void PrintTo(const Outcome& outcome, std::ostream* os) {
  *os << outcome.format << ", " << outcome.records << " records"
      << (outcome.complete ? ", complete" : "");
  for (const std::string& text : outcome.events) *os << "\n  " << text;
  for (const std::string& text : outcome.rejects) *os << "\n  reject " << text;
}

// One file being decoded, piece by piece.
inline std::string describe(const Tensor& tensor, const Interner& names) {
  const TensorStatistics& figures = tensor.statistics;
  std::string text =
      "tensor " + std::to_string(to_ns(tensor.at)) + " step=" + std::to_string(tensor.step) +
      " mode=" + std::string{to_string(tensor.mode)} + ":" + std::to_string(tensor.mode_step) +
      " rank=" + std::to_string(names.subjects[tensor.subject].rank) + " " +
      std::string{names.text(tensor.name)} + " [";
  for (const std::int64_t size : tensor.shape) text += std::to_string(size) + ",";
  text += "]";
  for (const Symbol name : tensor.collections) text += " in " + std::string{names.text(name)};
  const auto exact = [&text](const char* name, double value) {
    std::array<char, 64> buffer{};
    std::snprintf(buffer.data(), buffer.size(), " %s=%a", name, value);
    text += buffer.data();
  };
  for (const std::uint64_t count : {figures.count, figures.nans, figures.infinities, figures.zeros})
    text += " " + std::to_string(count);
  exact("min", figures.min);
  exact("max", figures.max);
  exact("mean", figures.mean);
  exact("variance", figures.variance);
  exact("abs", figures.abs_mean);
  exact("l2", figures.l2);
  for (const auto values : {tensor.sample, tensor.values}) {
    double sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (std::isfinite(values[i])) sum += values[i] * static_cast<double>(i + 1);
    }
    exact(std::to_string(values.size()).c_str(), sum);
  }
  return text;
}

class DecodeRun : private DumpSink, private TensorSink {
 public:
  using Lister = std::function<std::vector<std::string>(const std::string&)>;

  using Reader = std::function<std::optional<std::string>(const std::string&, std::size_t)>;

  explicit DecodeRun(std::string path, std::int32_t rank = kNoRank, Lister lister = {},
                     Reader reader = {})
      : path_(std::move(path)),
        rank_(rank),
        lister_(std::move(lister)),
        reader_(std::move(reader)),
        decoder_(make()) {}

  void feed(std::string_view bytes) {
    decoder_->feed(bytes, batch_);
    collect();
  }
  // What Ingest does after each read.
  void settle() {
    if (decoder_->complete()) decoder_->finish(batch_);
    collect();
  }
  void rename(const std::string& path) {
    path_ = path;
    decoder_->renamed(path);
  }
  void cut_back(std::uint64_t bytes) { decoder_->cut_back(bytes); }
  // The writer begins the file anew.
  void rewrite() {
    std::string delivered = decoder_->delivered();
    decoder_ = make();
    decoder_->rewritten(std::move(delivered));
  }

  // Goes on with a new decoder that knows only the saved state, as after a crash.
  void restart() {
    StateIo saving = StateIo::saving();
    decoder_->state(saving);
    const std::string saved = saving.take();
    StateIo saving_names = StateIo::saving();
    saving_names(*interner_);
    const std::string saved_names = saving_names.take();
    decoder_.reset();
    interner_ = std::make_unique<Interner>();
    StateIo loading_names = StateIo::loading(saved_names);
    loading_names(*interner_);
    decoder_ = make();
    StateIo loading = StateIo::loading(saved);
    decoder_->state(loading);
    EXPECT_TRUE(loading.complete());
  }

  Outcome finish() {
    const bool complete = decoder_->complete();
    decoder_->finish(batch_);
    collect();
    std::vector<std::string> all = events_;
    all.insert(all.end(), sunk_.begin(), sunk_.end());
    return {all, diagnostics_.reasons, decoder_->records(), std::string(decoder_->format()),
            complete};
  }
  FileDecoder& decoder() { return *decoder_; }
  const std::vector<std::string>& events() const { return events_; }
  const std::vector<Event>& raw_events() const { return raw_; }
  const Interner& interner() const { return *interner_; }

 private:
  std::unique_ptr<FileDecoder> make() {
    return std::make_unique<FileDecoder>(FileContext{FileId{7},
                                                     LaneId{3},
                                                     path_,
                                                     "job",
                                                     rank_,
                                                     *interner_,
                                                     diagnostics_,
                                                     lister_,
                                                     nullptr,
                                                     {},
                                                     kNoRank,
                                                     {},
                                                     this,
                                                     this,
                                                     reader_},
                                         format_catalog());
  }
  void dump(const std::string& job, RankDump dump) override {
    StateIo io = StateIo::saving();
    io(dump);
    sunk_.push_back("dump " + job + "/" + std::to_string(dump.rank) + " " + io.take());
  }
  void watchdog(const std::string& job, WatchdogLine line) override {
    StateIo io = StateIo::saving();
    io(line);
    sunk_.push_back("watchdog " + job + "/" + std::to_string(line.rank) + " " + io.take());
  }
  void tensor(const Tensor& tensor) override {
    collect();  // what came before it
    events_.push_back(describe(tensor, *interner_));
  }
  bool wants_tensors() const override { return true; }
  void collect() {
    for (const Event& event : batch_) events_.push_back(describe(event, *interner_));
    raw_.insert(raw_.end(), batch_.begin(), batch_.end());
    batch_.clear();
  }

  std::string path_;
  std::int32_t rank_;
  Lister lister_;
  Reader reader_;
  std::unique_ptr<Interner> interner_ = std::make_unique<Interner>();
  RecordingDiagnostics diagnostics_;
  EventBatch batch_;
  std::vector<std::string> events_;
  std::vector<std::string> sunk_;  // come at once, events at the end of what is fed
  std::vector<Event> raw_;
  std::unique_ptr<FileDecoder> decoder_;
};

inline Outcome decode(const std::string& path, std::string_view content) {
  DecodeRun run{path};
  run.feed(content);
  return run.finish();
}

using test::gzip;

}  // namespace trainwatch::testing
