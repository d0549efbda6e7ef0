// SPDX-License-Identifier: Apache-2.0
// Decodes text as a file and describes what it says about its run.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "decode_harness.h"
#include "trainwatch/run_note.h"

namespace trainwatch::testing {

// "completed 14:18:00", "checkpoint 1.5 s 14:18:00", "launched of 8 14:18:00"
inline std::string describe(const RunNote& note) {
  constexpr std::string_view kKinds[] = {
      "process_began", "process_ended", "step_begun", "launched",  "saw",       "restored",
      "checkpoint",    "evaluation",    "end",        "completed", "gpu_report"};
  std::string text{kKinds[static_cast<std::size_t>(note.kind)]};
  if (note.seconds >= 0) text += " " + std::to_string(note.seconds).substr(0, 4) + " s";
  if (note.world_size > 0) text += " of " + std::to_string(note.world_size);
  if (note.end) {
    constexpr std::string_view kWeights[] = {"consequence", "ended", "exception", "cause", "root"};
    text = std::string{to_string(note.end->what)} + "/" +
           std::string{kWeights[static_cast<std::size_t>(note.end->weight)]};
    if (note.end->rank != kNoRank) text += " rank " + std::to_string(note.end->rank);
    if (!note.end->node.empty()) text += " on " + note.end->node;
    if (note.end->signal) text += " signal " + std::to_string(*note.end->signal);
    if (note.end->exit_code) text += " code " + std::to_string(*note.end->exit_code);
  }
  return text + " " + to_rfc3339(note.at).substr(11, 8);
}

class NoteRun final : private RunNoteSink {
 public:
  explicit NoteRun(std::string path = "/w/slurm-1.out", Time written = {})
      : path_(std::move(path)), written_(written), decoder_(make()) {}

  void feed(std::string_view bytes) { decoder_->feed(bytes, batch_); }
  void finish() { decoder_->finish(batch_); }
  void written(Time time) {
    written_ = time;
    decoder_->written(time);
  }
  // Goes on with a new decoder that knows only the saved state.
  void restart() {
    StateIo saving = StateIo::saving();
    decoder_->state(saving);
    const std::string saved = saving.take();
    decoder_ = make();
    StateIo loading = StateIo::loading(saved);
    decoder_->state(loading);
    EXPECT_TRUE(loading.complete());
  }

  const std::vector<RunNote>& all() const { return notes_; }
  // Without those that a later one replaces, and without what is said of GPUs.
  std::vector<std::string> notes() const {
    std::vector<std::string> texts;
    for (auto note = notes_.begin(); note != notes_.end(); ++note) {
      const bool replaced = std::any_of(note + 1, notes_.end(), [&note](const RunNote& later) {
        return note->end && later.end && later.end->text == note->end->text;
      });
      if (!replaced && !note->xid) texts.push_back(describe(*note));
    }
    return texts;
  }
  // "79 of 0000:4e:00 on n12 pid 4711 14:18:00"
  std::vector<std::string> gpu_reports() const {
    std::vector<std::string> texts;
    for (const RunNote& note : notes_) {
      if (!note.xid) continue;
      const Subject& gpu = interner_.subjects[note.subject];
      std::string text = std::to_string(note.xid->number) + " of " + gpu.gpu;
      if (!gpu.node.empty()) text += " on " + gpu.node;
      if (note.xid->process != kNoProcess) text += " pid " + std::to_string(note.xid->process);
      texts.push_back(text + " " + to_rfc3339(note.at).substr(11, 8));
    }
    return texts;
  }
  // The events of the file, in their order.
  const EventBatch& events() const { return batch_; }
  const Interner& interner() const { return interner_; }
  const std::vector<std::string>& rejects() const { return diagnostics_.reasons; }
  FileDecoder& decoder() { return *decoder_; }

 private:
  std::unique_ptr<FileDecoder> make() {
    auto decoder = std::make_unique<FileDecoder>(FileContext{.file = FileId{7},
                                                             .lane = LaneId{3},
                                                             .path = path_,
                                                             .job = "job",
                                                             .interner = interner_,
                                                             .diagnostics = diagnostics_,
                                                             .list_directory = {},
                                                             .run_notes = this},
                                                 format_catalog());
    decoder->written(written_);
    return decoder;
  }
  SourceNote add(RunNote note) override {
    SourceNote event{note.at, LaneId{3}, SourceNote::Kind::run_note, note.subject};
    event.number = notes_.size();
    notes_.push_back(std::move(note));
    return event;
  }

  std::string path_;
  Time written_;
  Interner interner_;
  RecordingDiagnostics diagnostics_;
  std::vector<RunNote> notes_;
  EventBatch batch_;
  std::unique_ptr<FileDecoder> decoder_;
};

inline std::vector<std::string> notes_of(std::string_view content, Time written = {},
                                         std::string path = "/w/slurm-1.out") {
  NoteRun run{std::move(path), written};
  run.feed(content);
  run.finish();
  return run.notes();
}

}  // namespace trainwatch::testing
