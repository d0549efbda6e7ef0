// SPDX-License-Identifier: Apache-2.0
// What lines of jobs, launchers, schedulers and the kernel say about a run, as they are printed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/decode/ends/end_line.h"
#include "pipeline/decode/ends/line_prefix.h"
#include "run_note_reading.h"

namespace trainwatch::testing::run_notes_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Texts = std::vector<std::string>;

constexpr std::chrono::sys_days kDay{std::chrono::year{2026} / 9 / 21};
constexpr Time kWritten = kDay + std::chrono::hours(15);

std::string iteration(int number, const std::string& clock) {
  return " [2026-09-21 " + clock + "] iteration " + std::to_string(number) +
         "/ 10000 | elapsed time per iteration (ms): 2000.1 | lm loss: 3.9E+00 |\n";
}

struct Said {
  std::string_view line;
  std::string_view note;  // without its time; empty: none
};

constexpr Said kSaid[] = {
    {"checkpoint saved (10.6 s)", "checkpoint 10.6 s"},
    {"saved checkpoint to /ckpt/step_50 in 4.5s", "checkpoint 4.50 s"},
    {"saving checkpoint to ckpt/step_50.pt", "checkpoint"},
    {"resumed from checkpoint ckpt/step_674.pt", "launched"},
    {"slurmstepd: error: *** JOB 140 ON n1 CANCELLED AT 2026-09-21T14:18:00 DUE TO TIME LIMIT ***",
     "time_limit/cause on n1"},
    {"slurmstepd: error: *** STEP 140.0 ON n1 CANCELLED AT 2026-09-21T14:18:00 DUE TO PREEMPTION "
     "***",
     "preempted/cause on n1"},
    {"slurmstepd: error: *** JOB 140 ON n1 CANCELLED AT 2026-09-21T14:18:00 DUE TO NODE FAILURE, "
     "SEE SLURMCTLD LOG FOR DETAILS ***",
     "node_failure/cause on n1"},
    {"slurmstepd: error: *** JOB 140 ON n1 CANCELLED AT 2026-09-21T14:18:00 ***",
     "cancelled/ended on n1"},
    {"slurmstepd: error: Detected 1 oom_kill event in StepId=140.0. Some of the step tasks have "
     "been OOM Killed.",
     "host_out_of_memory/cause"},
    {"srun: error: node7: task 3: Out Of Memory", "host_out_of_memory/cause rank 3 on node7"},
    {"srun: error: node7: task 3: Killed", "signal/ended rank 3 on node7 signal 9"},
    {"srun: error: node7: task 3: Exited with exit code 1",
     "exception/ended rank 3 on node7 code 1"},
    {"srun: error: node7: tasks 3-5: Exited with exit code 137",
     "signal/ended rank 3 on node7 signal 9 code 137"},
    {"srun: error: node7: task 2: Terminated", "signal/consequence rank 2 on node7 signal 15"},
    {"srun: error: Node failure on node9", "node_failure/cause on node9"},
    {"E0921 14:18:00.100 4242 torch/distributed/elastic/multiprocessing/api.py:988] failed "
     "(exitcode: -9) local_rank: 3 (pid: 4711) of binary: /usr/bin/python3",
     "signal/ended rank 3 signal 9"},
    {"torch.distributed.elastic.multiprocessing.errors.ChildFailedError:", "exception/consequence"},
    {"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB.",
     "cuda_out_of_memory/cause"},
    {"[rank3]: RuntimeError: CUDA error: out of memory", "cuda_out_of_memory/cause rank 3"},
    {"[3/1] RuntimeError: CUDA error: uncorrectable ECC error encountered",
     "gpu_error/cause rank 3"},
    {"RuntimeError: CUDA error: device-side assert triggered", "exception/exception"},
    {"2026-09-21T14:22:01.101000+00:00 n12 kernel: [ 9120.114] NVRM: Xid (PCI:0000:4e:00): 79, "
     "pid=4711, name=python3, GPU has fallen off the bus.",
     "gpu_error/cause on n12"},
    {"NVRM: Xid (PCI:0000:4e:00): 45, pid=4711, name=python3", "gpu_error/consequence"},
    {"NVRM: Xid (PCI:0000:4e:00): 63, pid='<unknown>', name=<unknown>", ""},
    {"Sep 21 14:22:01 n12 kernel: Out of memory: Killed process 4711 (python3) total-vm:1kB",
     "host_out_of_memory/cause on n12"},
    {"2026-09-21T14:13:22.101202303Z stderr F 3: OSError: [Errno 28] No space left on device",
     "disk_full/cause rank 3"},
    {"Warning: container trainer terminated: reason OOMKilled, exit code 137",
     "host_out_of_memory/cause"},
    {"RuntimeError: DataLoader worker (pid 4711) is killed by signal: Killed.",
     "worker_killed/cause signal 9"},
    {"RuntimeError: DataLoader worker (pid(s) 4711) exited unexpectedly", "worker_killed/cause"},
    {"[rank1]: torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2268",
     "exception/consequence rank 1"},
    {"RuntimeError: [gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.2]:4711",
     "exception/consequence"},
    {"ncclRemoteError: A call failed possibly due to a network error", "exception/consequence"},
    {"7: ValueError: a bad shape", "exception/exception rank 7"},
    {"SignalException: Process 4242 got signal: 15", "signal/ended signal 15"},
    {"torch.distributed.elastic.multiprocessing.api.SignalException: Process 4242 got signal: 2",
     "cancelled/ended signal 2"},
    {"W0921 14:18:00.100 4242 api.py:1] Received Signals.SIGINT death signal, shutting down "
     "workers",
     "cancelled/exception"},
    {"[2026-09-21 14:18:00,123] [ERROR] [launch.py:325:sigkill_handler] ['python', 'train.py'] "
     "exits with return code = -11",
     "signal/ended signal 11"},
    {"Killed", "signal/ended signal 9"},
    {"run.sh: line 3:  4711 Segmentation fault      (core dumped) python train.py",
     "signal/ended signal 11"},
    {"Killed 3 stale workers of the cache", ""},
    {"a validation error: 0.31, test Error: 0.30", ""},
    {"INFO: no error: all is well", ""},
};

TEST(RunNotes, OfOneLine) {
  for (const Said& said : kSaid) {
    const Texts notes = notes_of(std::string(said.line) + "\n", kWritten);
    ASSERT_EQ(notes.size(), said.note.empty() ? 0U : 1U) << said.line;
    if (!notes.empty()) {
      EXPECT_EQ(notes[0].substr(0, notes[0].size() - 9), said.note) << said.line;
    }
  }
}

TEST(RunNotes, TimesOfLines) {
  const auto clock_of = [](std::string_view line) {
    const auto at = read_line_prefix(line, kWritten).at;
    return at ? to_rfc3339(*at) : std::string{"none"};
  };
  EXPECT_EQ(clock_of("E0921 14:18:00.100 4242 api.py:988] x"), "2026-09-21T14:18:00.100000Z");
  EXPECT_EQ(clock_of("[rank3]:[E1112 03:14:10.400 a.cpp:1] x"), "2025-11-12T03:14:10.400000Z");
  EXPECT_EQ(clock_of("2026-09-21T14:22:01.5+02:00 n12 kernel: x"), "2026-09-21T12:22:01.500000Z");
  EXPECT_EQ(clock_of("[titan] 2026-09-21 14:13:22,101 - root - x"), "2026-09-21T14:13:22.101000Z");
  EXPECT_EQ(clock_of("Sep  1 14:22:01 n12 kernel: x"), "2026-09-01T14:22:01.000000Z");
  EXPECT_EQ(clock_of("ValueError: a date so far behind a message that it is no time of the line: "
                     "2020-01-01 00:00:00"),
            "none");
  EXPECT_EQ(clock_of("[2027-09-21 14:13:22] of the future"), "none");
}

std::string root_cause(const std::string& code, const std::string& traceback) {
  return "============================================================\ntrain.py FAILED\n"
         "------------------------------------------------------------\nFailures:\n[1]:\n"
         "  time      : 2026-09-21_14:18:07\n  host      : n2\n  rank      : 5 (local_rank: 1)\n"
         "  exitcode  : 1 (pid: 4712)\n  error_file: <N/A>\n  traceback : To enable traceback see\n"
         "------------------------------------------------------------\n"
         "Root Cause (first observed failure):\n[0]:\n  time      : 2026-09-21_14:18:00\n"
         "  host      : node12\n  rank      : 3 (local_rank: 3)\n  exitcode  : " +
         code + " (pid: 4711)\n  error_file: <N/A>\n  traceback : " + traceback +
         "\n============================================================\n";
}

TEST(RunNotes, TheRootCauseOfTorchrun) {
  EXPECT_THAT(notes_of(root_cause("-9", "Signal 9 (SIGKILL) received by PID 4711"), kWritten),
              ElementsAre("signal/root rank 3 on node12 signal 9 14:18:00"));
  EXPECT_THAT(notes_of(root_cause("1",
                                  "Traceback (most recent call last):\n    File \"a.py\", "
                                  "line 1, in f\n      raise ValueError(\"CUDA error: x\")\n"
                                  "  ValueError: CUDA is away"),
                       kWritten),
              ElementsAre("exception/root rank 3 on node12 code 1 14:18:00"));
}

// What the rank has said names the cause, and has the time of the table.
TEST(RunNotes, TheRootCauseIsWhatItsRankSaid) {
  EXPECT_THAT(notes_of(iteration(1, "14:17:00") +
                           "[rank5]: torch.distributed.DistBackendError: a peer is gone\n"
                           "[rank3]: torch.OutOfMemoryError: CUDA out of memory.\n" +
                           root_cause("1", "To enable traceback see"),
                       kWritten),
              ElementsAre("exception/consequence rank 5 14:18:00",
                          "cuda_out_of_memory/root rank 3 on node12 code 1 14:18:00"));
}

constexpr std::string_view kTwoTracebacks =
    "[rank1]: Traceback (most recent call last):\n"
    "[rank0]: Traceback (most recent call last):\n"
    "[rank1]:   File \"train.py\", line 210, in <module>\n"
    "[rank1]:     raise RuntimeError('DataLoader worker (pid(s) 1) exited unexpectedly')\n"
    "[rank0]:   File \"train.py\", line 3, in f\n"
    "INFO: a line of another thread\n"
    "[rank1]: my.package.BadBatch: rows differ\n"
    "[rank0]:     main()\n"
    "[rank0]: KeyboardInterrupt\n";

TEST(RunNotes, TracebacksOfSeveralRanks) {
  EXPECT_THAT(notes_of(kTwoTracebacks, kWritten),
              ElementsAre("exception/exception rank 1 15:00:00", "cancelled/exception 15:00:00"));
}

TEST(RunNotes, ACaughtExceptionIsOfTheTrainingLineBefore) {
  EXPECT_THAT(
      notes_of(iteration(1, "14:17:00") + "ValueError: one\n" + iteration(2, "14:17:02"), kWritten),
      ElementsAre("exception/exception 14:17:00"));
}

TEST(RunNotes, WhatIsNotKnownAtTheEndOfTheBytesIsEmittedAndCorrected) {
  NoteRun run{"/w/slurm-1.out", kWritten};
  run.feed(iteration(1, "14:17:00") + "ValueError: one\n");
  EXPECT_THAT(run.notes(), ElementsAre("exception/exception 15:00:00"));
  run.feed("slurmstepd: error: *** JOB 1 ON n1 CANCELLED AT 2026-09-21T14:18:00 ***\n");
  EXPECT_THAT(run.notes(),
              ElementsAre("exception/exception 14:18:00", "cancelled/ended on n1 14:18:00"));
  EXPECT_EQ(run.all().size(), 3U);
  EXPECT_EQ(run.all()[0].end->file, "/w/slurm-1.out");
}

TEST(RunNotes, AFileThatWasTouchedLaterSaysNothing) {
  EXPECT_THAT(
      notes_of(iteration(1, "14:17:00") + "ValueError: one\n", kWritten + std::chrono::days(30)),
      ElementsAre("exception/exception 14:17:00"));
}

std::string waited(int rank, const std::string& owner) {
  return owner +
         " Watchdog caught collective operation timeout: WorkNCCL(SeqNum=2204, "
         "OpType=ALLREDUCE, NumelIn=5, NumelOut=5, Timeout(ms)=600000) ran for 60000" +
         std::to_string(rank) + " milliseconds before timing out.\n";
}

TEST(RunNotes, ATimeoutNamesTheRankThatIsBehind) {
  std::string log;
  for (const int rank : {0, 1, 2}) {
    const std::string prefix = "[rank" + std::to_string(rank) + "]:[E921 14:14:10.4 ";
    log += waited(rank, prefix + "ProcessGroupNCCL.cpp:632] [Rank 0]");
    log += prefix +
           "ProcessGroupNCCL.cpp:2268] [PG ID 0 PG GUID 0(default_pg) Rank 0]  failure "
           "detected by watchdog at work sequence id: 4 PG status: last enqueued work: " +
           (rank == 1 ? "3" : "6") + ", last completed work: 3\n";
  }
  EXPECT_THAT(notes_of(log, kWritten), ElementsAre("collective_timeout/cause rank 1 14:14:10"));
}

TEST(RunNotes, ATimeoutNamesTheRankThatHasSaidNothing) {
  std::string log;
  for (const int rank : {0, 1, 3}) {
    log += "[E ProcessGroupNCCL.cpp:566] [Rank " + std::to_string(rank) +
           "] Watchdog caught collective operation timeout: WorkNCCL(OpType=ALLREDUCE, "
           "Timeout(ms)=1800000) ran for 1800004 milliseconds before timing out.\n";
  }
  EXPECT_THAT(notes_of(log, kWritten), ElementsAre("collective_timeout/cause rank 2 15:00:00"));
  EXPECT_THAT(notes_of(log.substr(0, log.find('\n') + 1), kWritten),
              ElementsAre("collective_timeout/cause 15:00:00"));
}

TEST(RunNotes, OfMegatron) {
  EXPECT_THAT(
      notes_of("using world size: 8, data-parallel size: 8\n"
               "[after megatron is initialized] datetime: 2026-09-21 14:10:00 \n"
               "[before the start of training step] datetime: 2026-09-21 14:11:00 \n" +
                   iteration(1, "14:17:00") +
                   "saving checkpoint at iteration       1 to /ckpt in torch format\n"
                   "    evaluate .......................................: (3012.51, 3014.60)\n" +
                   iteration(2, "14:18:00") +
                   "[after training is done] datetime: 2026-09-21 14:19:00 \n",
               kWritten),
      ElementsAre("launched of 8 14:10:00", "saw 14:11:00", "checkpoint 14:17:00",
                  "evaluation 3.01 s 14:17:00", "completed 14:19:00"));
}

std::string titan(const std::string& clock, const std::string& message) {
  return "[titan] 2026-09-21 " + clock + ",000 - root - INFO - " + message + "\n";
}

TEST(RunNotes, OfTorchtitan) {
  const std::string step = "  loss:  5.5  memory: 11.20GiB(14.1%)  tps: 5,120  tflops: 80.10";
  const std::string log =
      titan("14:10:00", "Starting job: Llama 3 8B training") +
      titan("14:11:00", "step:  1" + step) +
      titan("14:11:02", "Saving the checkpoint (or staging if async is enabled).") +
      titan("14:11:03",
            "Finished saving the checkpoint (or staging if async is enabled)in 0.65 "
            "seconds.") +
      titan("14:11:04", "validate step:  1" + step) + titan("14:12:00", "step:  2" + step) +
      titan("14:13:00", "Training completed");
  NoteRun run{"/w/slurm-1.out", kWritten};
  run.feed(log);
  EXPECT_EQ(run.decoder().records(), 3U);
  EXPECT_THAT(run.notes(),
              ElementsAre("launched 14:10:00", "saw 14:11:02", "checkpoint 0.65 s 14:11:03",
                          "evaluation 14:11:04", "completed 14:13:00"));
}

TEST(RunNotes, TheLastLineOfATrainerSaysHowLongItTook) {
  const Time written = time_from_rfc3339("2026-09-21T14:18:00Z");
  const std::string records =
      "{'loss': '2.1', 'grad_norm': '1.4', 'epoch': '0.1'}\n"
      "{'loss': '2.0', 'grad_norm': '1.4', 'epoch': '0.2'}\n";
  EXPECT_THAT(notes_of(records + "{'train_runtime': '660.4', 'train_loss': '2.0', 'epoch': '1'}\n",
                       written),
              ::testing::Contains("completed 660. s 14:18:00"));
}

// A crash before the first step, in a file of one rank.
TEST(RunNotes, AFileWithNothingButAFailure) {
  NoteRun run{"/w/attempt_0/3/stderr.log", kWritten};
  run.feed(
      "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nImportError: no x\n");
  EXPECT_THAT(run.notes(), ElementsAre("exception/exception rank 3 15:00:00"));
  ASSERT_EQ(run.events().size(), 1U);
  const auto& event = std::get<SourceNote>(run.events()[0]);
  EXPECT_EQ(event.kind, SourceNote::Kind::run_note);
  EXPECT_EQ(run.interner().subjects[event.subject].rank, 3);
  EXPECT_EQ(run.all()[0].end->text, "ImportError: no x");
}

// An earlier attempt, into the same file: not now.
TEST(RunNotes, AFailureBeforeTheFirstRecordHasItsTime) {
  NoteRun run{"/w/slurm-1.out", kWritten};
  run.feed("RuntimeError: address in use\n" + iteration(1, "14:17:00"));
  EXPECT_THAT(run.notes(), ElementsAre("exception/exception 14:17:00"));
}

TEST(RunNotes, KeepTheirPlaceAmongTheEvents) {
  NoteRun run{"/w/slurm-1.out", kWritten};
  run.feed(iteration(1, "14:17:00") + "ValueError: one\n" + iteration(2, "14:17:02"));
  std::string order;
  for (const Event& event : run.events())
    order += std::holds_alternative<Scalar>(event) ? 's' : 'n';
  EXPECT_EQ(order, "sssnsss");
}

TEST(RunNotes, TextIsBoundedAndValid) {
  NoteRun run{"/w/slurm-1.out", kWritten};
  run.feed("ValueError: \xff" + std::string(242, 'x') + "\xE2\x96\x8F\xE2\x96\x8F behind\n");
  ASSERT_EQ(run.all().size(), 1U);
  const std::string& text = run.all()[0].end->text;
  EXPECT_LE(text.size(), EndEvidence::kMostText);
  EXPECT_TRUE(is_valid_text(text));
  EXPECT_TRUE(text.starts_with("ValueError: \\xffxxx"));
}

// The last that is said of each is the same however the bytes are cut, and with any restart.
TEST(RunNotes, EveryCutGivesTheSame) {
  const std::string log =
      iteration(1, "14:17:00") + std::string(kTwoTracebacks) + "ValueError: one\n" +
      iteration(2, "14:17:02") + waited(0, "[E ProcessGroupNCCL.cpp:632] [Rank 0]") +
      waited(2, "[E ProcessGroupNCCL.cpp:632] [Rank 2]") + "RuntimeError: two\n" +
      root_cause("1",
                 "Traceback (most recent call "
                 "last):\n  RuntimeError: two");
  const Texts whole = notes_of(log, kWritten);
  ASSERT_FALSE(whole.empty());
  for (std::size_t cut = 0; cut <= log.size(); ++cut) {
    for (const bool restart : {false, true}) {
      NoteRun run{"/w/slurm-1.out", kWritten};
      run.feed(std::string_view(log).substr(0, cut));
      if (restart) run.restart();
      run.feed(std::string_view(log).substr(cut));
      run.finish();
      ASSERT_THAT(run.notes(), ::testing::UnorderedElementsAreArray(whole)) << "cut at " << cut;
    }
  }
}

TEST(RunNotes, ErrorsOfGpusAreOfTheirNode) {
  const std::string log =
      "2026-09-21T14:10:00.000000+00:00 n12 kernel: [ 8812.000] audit: type=1400\n"
      "2026-09-21T14:22:01.101000+00:00 n12 kernel: [ 9120.114] NVRM: Xid (PCI:0000:4e:00): 79, "
      "pid=4711, name=python3, GPU has fallen off the bus.\n"
      "Sep 21 14:23:01 n12 kernel: NVRM: Xid (PCI:0000:4E:00): 31, pid='<unknown>', "
      "name=<unknown>\n"
      "2026-09-21T16:24:01+0200 n12 kernel: NVRM: Xid (PCI:0000:4e:00): 63, pid=7\n"
      "[Mon Sep 21 14:25:01 2026] NVRM: Xid (0000:4f:00): 13, Graphics Exception\n"
      "[ 9121.114] NVRM: Xid (PCI:0000:4e:00): 43, pid=4711\n"
      "NVRM: Xid (PCI:0000:4e:00): none\nNVRM: Xid (somewhere): 79, pid=1\n";
  for (std::size_t cut = 0; cut <= log.size(); cut += 7) {
    NoteRun run{"/var/log/messages", kWritten};
    run.feed(std::string_view(log).substr(0, cut));
    run.restart();
    run.feed(std::string_view(log).substr(cut));
    run.finish();
    ASSERT_THAT(
        run.gpu_reports(),
        ElementsAre("79 of 0000:4e:00 on n12 pid 4711 14:22:01", "31 of 0000:4e:00 on n12 14:23:01",
                    "63 of 0000:4e:00 on n12 pid 7 14:24:01", "13 of 0000:4f:00 14:25:01",
                    "43 of 0000:4e:00 pid 4711 15:00:00"))
        << "cut at " << cut;
  }
}

TEST(RunNotes, TheWordOfTheKernelIsMarked) {
  NoteRun run{"/w/kern.log", kWritten};
  run.feed("Sep 21 14:22:01 n12 kernel: Out of memory: Killed process 4711 (python3) x\nKilled\n");
  run.finish();
  std::vector<bool> marked;
  for (const RunNote& note : run.all()) marked.push_back(note.end->of_machine);
  EXPECT_THAT(marked, ElementsAre(true, false));
}

TEST(RunNotes, NothingIsSaidWithoutTakers) {
  const Outcome outcome = decode("/w/slurm-1.out", "ValueError: one\n");
  EXPECT_THAT(outcome.events, IsEmpty());
}

}  // namespace trainwatch::testing::run_notes_test
