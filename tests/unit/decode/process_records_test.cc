// SPDX-License-Identifier: Apache-2.0
// What timelines say of their process: notes about begin and end, and about the step it has begun.
#include "pipeline/decode/process_records.h"

#include <gtest/gtest.h>

#include "run_note_reading.h"
#include "trainwatch/run_note.h"

namespace trainwatch::testing::process_records_test {

using Lines = std::vector<std::string>;

constexpr std::string_view kPath = "/w/framework/3-n_pythontimeline.json.tmp";
constexpr std::string_view kHook = R"([
{"name": "process_name", "ph": "M", "pid": 0, "args": {"start_time_since_epoch_in_micros": 1700000000000000}},
{"name": "process_sort_index", "ph": "M", "pid": 0, "args": {"sort_index": 0}},
{"name": "process_labels", "ph": "M", "pid": 0, "args": {"world_size": 8, "process_id": 7, "process_start_in_micros": 1699999990000000, "labels": "world size 8"}},
{"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "Step:ModeKeys.TRAIN"}},
{"name": "process_name", "ph": "M", "pid": 2, "args": {"name": "Step:ModeKeys.EVAL"}},
{"name": "begin", "pid": 1, "ph": "i", "s": "t", "ts": 1000, "args": {"step_num": "40"}},
{"name": "Step:ModeKeys.TRAIN", "pid": 1, "ph": "X", "ts": 900, "dur": 500, "args": {"pid": 7, "step_num": "40"}},
{"name": "begin", "pid": 2, "ph": "i", "s": "t", "ts": 1500, "args": {"step_num": "0"}},
{"name": "CYCLE_START", "pid": 2, "ph": "i", "ts": 1600, "s": "g"},
{"name": "begin", "pid": 1, "ph": "i", "s": "t", "ts": 2000, "args": {"step_num": "41"}},
{"name": "process_end", "ph": "i", "pid": 0, "s": "p", "ts": 3000, "args": {"how": "exception", "exception": "torch.OutOfMemoryError", "message": "CUDA out of memory. \"Tried\"", "pid": 7}}
])";

std::string described(const NoteRun& run, const RunNote& note) {
  constexpr const char* kKinds[] = {"began",    "ended",    "step",       "launched",
                                    "saw",      "restored", "checkpoint", "evaluation",
                                    "evidence", "completed"};
  const Subject& subject = run.interner().subjects[note.subject];
  std::string text = kKinds[static_cast<std::size_t>(note.kind)];
  text += " " + std::to_string(to_ns(note.at) / 1'000'000) + " " + subject.node + "/" +
          std::to_string(subject.rank);
  if (note.world_size != 0) text += " of " + std::to_string(note.world_size);
  if (note.step != kNoStep) text += " #" + std::to_string(note.step);
  if (note.end) {
    text += " " + std::string(to_string(note.end->what)) + "/" +
            std::to_string(static_cast<int>(note.end->weight)) + " '" + note.end->text + "' " +
            std::to_string(note.end->exit_code.value_or(-1)) + " " +
            std::to_string(note.end->signal.value_or(-1)) + " " + note.end->file;
  }
  return text;
}

// The notes of the file in their order among its other events.
Lines lines_of(const NoteRun& run) {
  Lines lines;
  for (const Event& event : run.events()) {
    const auto* const note = std::get_if<SourceNote>(&event);
    if (note == nullptr) {
      lines.emplace_back("span");
    } else if (note->kind == SourceNote::Kind::run_note) {
      lines.push_back(described(run, run.all().at(note->number)));
    }
  }
  return lines;
}

Lines lines_of(std::string_view path, std::string_view content) {
  NoteRun run{std::string(path)};
  run.feed(content);
  run.finish();
  EXPECT_EQ(run.rejects(), Lines{});
  return lines_of(run);
}

const Lines& expected() {
  static const Lines lines{
      "began 1699999990000 n/3 of 8", "step 1700000000001 n/3 #40", "span",
      "step 1700000000002 n/3 #41",
      "ended 1700000000003 n/3 cuda_out_of_memory/2 'torch.OutOfMemoryError: CUDA out of memory. "
      "\"Tried\"' -1 -1 /w/framework/3-n_pythontimeline.json.tmp"};
  return lines;
}

TEST(ProcessRecords, TheHooksFile) {
  EXPECT_EQ(lines_of(kPath, kHook), expected());
}

TEST(ProcessRecords, EveryCutGivesTheSame) {
  for (const bool restart : {false, true}) {
    for (std::size_t cut = 0; cut <= kHook.size(); ++cut) {
      NoteRun run{std::string(kPath)};
      run.feed(kHook.substr(0, cut));
      if (restart) run.restart();
      run.feed(kHook.substr(cut));
      run.finish();
      ASSERT_EQ(lines_of(run), expected()) << "cut at " << cut;
    }
  }
}

// Those of SageMaker and older ones of the hook: all files of a process have the same start.
TEST(ProcessRecords, AFileThatDoesNotNameItsProcessHasItsStart) {
  const Lines said = lines_of("/w/1795236016087300_0-algo-1_pythontimeline.json", R"([
{"name": "process_name", "ph": "M", "pid": 0, "args": {"start_time_since_epoch_in_micros": 1700000000000000}},
{"name": "Forward", "pid": 1, "ph": "X", "ts": 900, "dur": 500},
{"name": "Forward", "pid": 1, "ph": "X", "ts": 1900, "dur": 500}
])");
  EXPECT_EQ(said, (Lines{"began 1700000000000 algo-1/0", "span", "span"}));
}

TEST(ProcessRecords, OnlyTheTrainingProcessBegins) {
  const Lines said = lines_of("/w/1795236016087300_0-algo-1_model_timeline.json", R"([
{"name": "process_name", "ph": "M", "pid": 0, "args": {"start_time_since_epoch_in_micros": 1700000000000000}},
{"name": "kAllReduce", "pid": 1, "ph": "X", "ts": 900, "dur": 500}
])");
  EXPECT_EQ(said, Lines{"span"});
}

TEST(ProcessRecords, TheLaunchersFileIsOfTheJobOrOfARank) {
  const auto text = [](const std::string& end) {
    return R"([
{"name": "process_name", "ph": "M", "pid": 0, "args": {"start_time_since_epoch_in_micros": 1700000000000000}},
{"name": "process_labels", "ph": "M", "pid": 0, "args": {"process_start_in_micros": 1700000000000000, "labels": ""}},
{"name": "process_end", "ph": "i", "pid": 0, "s": "p", "ts": 9000, "args": {)" +
           end + "}}\n]";
  };
  const std::string job = "/w/framework/1700000000000000_host_launchtimeline.json";
  EXPECT_EQ(lines_of(job, text(R"("how": "signal", "signal": 9)")),
            (Lines{"launched 1700000000000 host/-1",
                   "evidence 1700000000009 host/-1 signal/1 '' -1 9 " + job}));
  EXPECT_EQ(lines_of(job, text(R"("how": "exit", "exit_code": 3)"))[1],
            "evidence 1700000000009 host/-1 unknown/1 '' 3 -1 " + job);
  EXPECT_EQ(lines_of(job, text(R"("how": "interrupted", "signal": 15)"))[1],
            "evidence 1700000000009 host/-1 cancelled/1 '' -1 15 " + job);
  EXPECT_EQ(lines_of(job, text(R"("how": "completed")"))[1],
            "evidence 1700000000009 host/-1 completed/1 '' 0 -1 " + job);
  const std::string rank = "/w/framework/1700000000000000_0-host_launchtimeline.json";
  EXPECT_EQ(lines_of(rank, text(R"("how": "unknown")")),
            (Lines{"began 1700000000000 host/0",
                   "ended 1700000000009 host/0 unknown/1 '' -1 -1 " + rank}));
}

TEST(ProcessRecords, WhatIsDamagedSaysNothing) {
  for (const char* args :
       {"", R"(, "args": {})", R"(, "args": 1)", R"(, "args": {"how": 5, "exit_code": "x"})",
        R"(, "args": {"how": "exception"})",
        R"(, "args": {"how": "exception", "exception": "\ud800"})"}) {
    const std::string record =
        R"({"name": "process_end", "ph": "i", "ts": 1)" + std::string(args) + "}";
    EXPECT_EQ(read_process_end(record).what, EndClass::unknown) << args;
  }
  EXPECT_FALSE(read_process_labels(R"({"args": {"process_start_in_micros": "soon"}})").start_ns);
  EXPECT_EQ(read_process_labels(R"({"args": {"world_size": -1}})").world_size, 0U);
}

TEST(ProcessRecords, TextIsBoundedAndPrintable) {
  const std::string record =
      R"({"args": {"how": "exception", "exception": "E", "message": "\u0007)" +
      std::string(500, 'x') + "\"}}";
  const EndEvidence end = read_process_end(record);
  EXPECT_EQ(end.text.size(), EndEvidence::kMostText);
  EXPECT_TRUE(is_valid_text(end.text));
}

TEST(ProcessRecords, WhatExceptionsMean) {
  const auto is = [](std::string_view type, std::string_view message, EndClass what,
                     EndWeight weight = EndWeight::exception) {
    const ExceptionMeaning found = meaning_of_exception(type, message);
    EXPECT_EQ(found.what, what) << type << ": " << message;
    EXPECT_EQ(found.weight, weight) << type << ": " << message;
  };
  is("ValueError", "bad", EndClass::exception);
  is("KeyboardInterrupt", "", EndClass::cancelled);
  is("torch.cuda.OutOfMemoryError", "CUDA out of memory.", EndClass::cuda_out_of_memory);
  is("RuntimeError", "CUDA out of memory. Tried to", EndClass::cuda_out_of_memory);
  is("MemoryError", "", EndClass::host_out_of_memory);
  is("OSError", "[Errno 28] No space left on device: 'x'", EndClass::disk_full);
  is("RuntimeError", "DataLoader worker (pid 7) is killed by signal: Killed.",
     EndClass::worker_killed);
  is("RuntimeError", "CUDA error: an illegal memory access was encountered", EndClass::gpu_error);
  is("torch.distributed.DistBackendError",
     "NCCL error: remote process exited or there was a network error", EndClass::exception,
     EndWeight::consequence);
  is("RuntimeError", "[pair.cc:534] Connection closed by peer [127.0.0.1]:1234",
     EndClass::exception, EndWeight::consequence);
}

}  // namespace trainwatch::testing::process_records_test
