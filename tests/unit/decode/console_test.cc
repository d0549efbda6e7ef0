// SPDX-License-Identifier: Apache-2.0
// What each console preset makes of a line as its real writer prints it.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <limits>

#include "declared_reading.h"
#include "decode_harness.h"
#include "pipeline/decode/declared/declaration.h"
#include "pipeline/decode/declared/line_pattern.h"
#include "pipeline/decode/declared/scalar_text.h"
#include "pipeline/decode/flight_recorder/flight_dump.h"
#include "support/source_path.h"

namespace trainwatch::testing::console_test {

Lines printed(std::string_view content) {
  return scalars_of("/w/train.log", content);
}

TEST(ConsolePresets, HaveValidPatterns) {
  for (const FormatDeclaration& preset : console_presets()) {
    EXPECT_FALSE(error_in_line_pattern(preset.line)) << preset.name;
    const LinePattern pattern{preset};
    LineLayout layout;
    EXPECT_FALSE(pattern.find("", layout)) << preset.name;
    EXPECT_TRUE(pattern.ignores_digits()) << preset.name;
    EXPECT_FALSE(preset.has.empty()) << preset.name;
  }
}

TEST(ConsolePresets, DeepSpeed) {
  EXPECT_EQ(printed("[2024-05-01 10:00:00,123] [INFO] [logging.py:96:log_dist] [Rank 0] step=10, "
                    "skipped=0, lr=[6e-05, 6e-05], mom=[(0.9, 0.95)]\n"
                    "epoch=0/micro_step=40/global_step=10, RunningAvgSamplesPerSec=25.5, "
                    "CurrSamplesPerSec=26.25, MemAllocated=1.5GB, MaxMemAllocated=2.0GB\n"
                    "steps: 20 loss: 2.3456 iter time (s): 0.125 samples/sec: 260.1\n"),
            (Lines{"learning_rate=6e-05 10/1", "samples_per_second=26.25 10/2",
                   "memory_bytes=1.5e+09 10/1", "loss=2.3456 20/1", "step_seconds=0.125 20/10",
                   "samples_per_second=260.1 20/10"}));
}

TEST(ConsolePresets, TorchtitanWithColours) {
  EXPECT_EQ(printed("[rank0]:[titan] 2026-01-02 03:04:05,678 - root - INFO - "
                    "\x1b[31mstep: 10  \x1b[32mloss:  7.12345  \x1b[38;2;180;60;0mgrad_norm:  "
                    "1.2345  \x1b[38;2;54;234;195mmemory:  2.00GiB(57.6%)  \x1b[34mtps: 12,345  "
                    "\x1b[36mtflops: 345.67  \x1b[35mmfu: 34.95%\x1b[39m\n"),
            (Lines{"loss=7.12345 10/1 rank 0", "grad_norm=1.2345 10/1 rank 0",
                   "memory_bytes=2.14748e+09 10/1 rank 0", "tokens_per_second=12345 10/2 rank 0",
                   "tflops_per_gpu=345.67 10/2 rank 0", "mfu_ratio=0.3495 10/2 rank 0"}));
}

TEST(ConsolePresets, Nemo) {
  EXPECT_EQ(scalars_of("/w/nemo_log_globalrank-3_localrank-1.txt",
                       "Training epoch 0, iteration 9/99 | lr: 1e-05 | global_batch_size: 32 | "
                       "global_step: 9 | reduced_train_loss: 10.9 | train_step_timing in s: 3.4 | "
                       "consumed_samples: 320\n"),
            (Lines{"loss=10.9 9/1 rank 3", "step_seconds=3.4 9/1 rank 3",
                   "learning_rate=1e-05 9/1 rank 3"}));
}

// As Transformers 4 and 5 print it: tqdm.write() clears the bar and draws it again.
TEST(ConsolePresets, HuggingFaceTakesTheStepFromTheBarBehind) {
  const std::string content =
      "\r  0%|          | 0/500 [00:00<?, ?it/s]\r        \r{'loss': 2.31, 'grad_norm': nan, "
      "'learning_rate': 4.9e-05, 'epoch': 0.02}\n"
      "\r  2%|\xE2\x96\x8F         | 12/500 [00:31<21:04,  2.59s/it]\r"
      "\r 10%|#         | 1/10 [00:00<00:01,  9.59it/s]\r"
      "\r{'loss': '2.25', 'learning_rate': '4.8e-05', 'epoch': '0.04'}\n"
      "\r  5%|\xE2\x96\x8F         | 24/500 [00:31<21:04,  4.00it/s, loss=2.3]";
  const Lines expected{
      "loss=2.31 12/1",       "grad_norm=nan 12/1",         "learning_rate=4.9e-05 12/1",
      "epoch=0.02 12/1",      "total_steps=500 12/1",       "step_seconds=2.59 12/2",
      "loss=2.25 24/1",       "learning_rate=4.8e-05 24/1", "epoch=0.04 24/1",
      "total_steps=500 24/1", "step_seconds=0.25 24/12"};
  EXPECT_EQ(printed(content), expected);
  const Outcome whole = decode("/w/train.log", content);
  for (std::size_t cut = 0; cut <= content.size(); ++cut) {
    DecodeRun run{"/w/train.log"};
    run.feed(std::string_view{content}.substr(0, cut));
    run.restart();
    run.feed(std::string_view{content}.substr(cut));
    ASSERT_EQ(run.finish(), whole) << "cut at " << cut;
  }
}

TEST(ConsolePresets, RecordedHuggingFaceRunHasItsSteps) {
  const auto path = source_path("tests/data/recorded-logs/hf_trainer/console.log");
  std::ifstream file{path};
  ASSERT_TRUE(file) << path;
  const std::string content{std::istreambuf_iterator<char>{file}, {}};
  Lines losses;
  for (const std::string& line : printed(content)) {
    if (line.starts_with("loss=")) losses.push_back(line);
  }
  ASSERT_EQ(losses.size(), 10U);
  EXPECT_EQ(losses[0], "loss=2.698 4/1");
  EXPECT_EQ(losses[1], "loss=3.224 8/1");
  EXPECT_TRUE(losses[9].ends_with(" 40/1")) << losses[9];
  EXPECT_EQ(printed(content).back(), "end");
}

TEST(Console, SaysThatTheTrainingHasEnded) {
  const std::string record = "[rank3]: step: 7  loss:  7.5  tps: 12\n";
  for (const std::string end :
       {"[rank3]: 2026-01-02 03:04:05,678 - root - INFO - Training completed\n",
        "slurmstepd: error: *** JOB 123 ON node7 CANCELLED AT 2026-01-02T03:04:05 DUE TO TIME "
        "LIMIT ***\n",
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"}) {
    EXPECT_EQ(printed(record + end),
              (Lines{"loss=7.5 7/1 rank 3", "tokens_per_second=12 7/2 rank 3", "end"}));
    EXPECT_EQ(printed(end + record).size(), 2U) << "nothing had begun";
    const Outcome whole = decode("/w/train.log", record + end + record);
    for (std::size_t cut = 0; cut <= record.size() + end.size(); ++cut) {
      DecodeRun run{"/w/train.log"};
      run.feed((record + end + record).substr(0, cut));
      run.restart();
      run.feed((record + end + record).substr(cut));
      ASSERT_EQ(run.finish(), whole) << "cut at " << cut;
    }
  }
}

TEST(ConsolePresets, Detectron2) {
  EXPECT_EQ(printed("[05/23 10:11:12 d2.utils.events]:  eta: 0:10:00  iter: 99  total_loss: 1.9  "
                    "loss_cls: 0.5  time: 0.25  last_time: 0.3  data_time: 0.01  last_data_time: "
                    "0.02   lr: 0.02  max_mem: 3000M\n"),
            (Lines{"loss=1.9 99/1", "step_seconds=0.25 99/2", "data_seconds=0.01 99/2",
                   "learning_rate=0.02 99/1"}));
}

TEST(ConsolePresets, TimmCountsStepsOverEpochs) {
  EXPECT_EQ(printed("Train: 2 [  50/1251 (  4%)]  Loss: 6.9 (6.95)  Time: 0.25s, 1024.0/s  "
                    "(0.30s,  853.3/s)  LR: 1.0e-06  Data: 0.01 (0.02)\n"),
            (Lines{"loss=6.9 2552/1", "step_seconds=0.25 2552/1", "data_seconds=0.01 2552/1",
                   "learning_rate=1e-06 2552/1"}));
}

TEST(ConsolePresets, FairseqSimpleAndJson) {
  const std::string json =
      "2021-03-01 10:00:00 | INFO | train_inner | {\"epoch\": 1, \"update\": 0.1, \"loss\": "
      "\"12.5\", \"wps\": \"1000\", \"ups\": \"2.5\", \"num_updates\": \"100\", \"lr\": \"0.01\", "
      "\"gnorm\": \"3.5\"}\n";
  const std::string simple =
      "epoch 001:    110 / 1000 loss=12.5, wps=1000, ups=2.5, num_updates=110, lr=0.01, "
      "gnorm=3.5\n";
  const auto expected = [](const std::string& at, const std::string& steps) {
    return Lines{"loss=12.5 " + at + "/1", "tokens_per_second=1000 " + at + "/" + steps,
                 "steps_per_second=2.5 " + at + "/" + steps, "learning_rate=0.01 " + at + "/1",
                 "grad_norm=3.5 " + at + "/1"};
  };
  EXPECT_EQ(printed(json), expected("100", "2"));
  EXPECT_EQ(printed(simple), expected("110", "2"));
}

TEST(Console, MegabytesOfBarsWithoutALineBreakAreLines) {
  std::string flood;
  while (flood.size() < (5U << 20U)) flood += "\r 50%|#####     | 7/500 [00:31<21:04,  2.59s/it]";
  const Lines record = {"loss=2.31 7/1", "total_steps=500 7/1", "step_seconds=2.59 7/2"};
  EXPECT_EQ(printed(flood + "\n{'loss': 2.31}\n"), record);  // at the end of the file
  EXPECT_EQ(printed(flood + "\n{'loss': 2.31}\n" + flood), record);
}

TEST(Console, ALineThatNeverEndsCostsNothingBehindIt) {
  const std::string endless(3U << 20U, 'x');
  EXPECT_EQ(printed("{'loss': 1.5}" + endless + "\n{'loss': 2.31}\n"), (Lines{"loss=2.31 -1/1"}));
}

TEST(Console, TextOfNobodyIsNoRecordAndNoReject) {
  EXPECT_EQ(printed("Loss of connection: 3\nstep: 4\nhello tps: 5\n"), Lines{});
  EXPECT_EQ(detect_format(format_catalog(), "[{\"ph\"", "/w/train.log").name, "undecided");
  EXPECT_EQ(detect_format(format_catalog(), "[titan]", "/w/train.log").name, "console");
}

// Keeps what the watchdog says, as "rank sequence/ran at seconds".
class Watched : public DumpSink {
 public:
  Lines read(const std::string& path, std::string_view content, Time written,
             std::int32_t rank = kNoRank) {
    lines_.clear();
    Interner names;
    RecordingDiagnostics diagnostics;
    FileContext context{FileId{},    LaneId{},
                        path,        "job",
                        rank,        names,
                        diagnostics, [](const std::string&) {
          return std::vector<std::string>{}; }};
    context.written = written;
    context.dumps = this;
    FileDecoder decoder{context, format_catalog()};
    EventBatch batch;
    decoder.feed(content, batch);
    return lines_;
  }

 private:
  void dump(const std::string&, RankDump) override {}
  void watchdog(const std::string&, WatchdogLine line) override {
    lines_.push_back(std::to_string(line.rank) + " " + std::to_string(line.sequence) + "/" +
                     std::to_string(line.ran_ms) + " at " +
                     std::to_string(to_ns(line.at) / 1'000'000'000));
  }
  Lines lines_;
};

std::string watchdog_line(const std::string& prefix, const std::string& owner) {
  return prefix + "ProcessGroupNCCL.cpp:685] [" + owner +
         "] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=35, OpType=ALLREDUCE, "
         "Timeout(ms)=600000) ran for 600029 milliseconds before timing out.\n";
}

TEST(ConsoleWatchdog, TheRankIsThatOfTheFileOrThePrefix) {
  Watched watched;
  const std::string plain = watchdog_line("[E ", "Rank 1");
  const std::string line = watchdog_line("[rank6]:[E ", "Rank 1");
  const std::string behind = "35/600029 at 0";
  EXPECT_EQ(watched.read("/w/a.log", plain, {}), Lines{"1 " + behind});
  EXPECT_EQ(watched.read("/w/a.log", line, {}), Lines{"6 " + behind});
  EXPECT_EQ(watched.read("/w/a.log", "\x1b[31m" + line + "\x1b[0m", {}), Lines{"6 " + behind});
  EXPECT_EQ(watched.read("/w/a.log", "[default5]:" + plain, {}), Lines{"5 " + behind});
  EXPECT_EQ(watched.read("/w/a.log", "5: " + plain, {}), Lines{"5 " + behind});
  EXPECT_EQ(watched.read("/w/attempt_0/3/stderr.log", plain, {}), Lines{"3 " + behind});
  EXPECT_EQ(watched.read("/w/a.log", line, {}, 9), Lines{"9 " + behind});
  // Within its group only: whoever that is, it is not named.
  EXPECT_EQ(watched.read("/w/a.log",
                         "[E ProcessGroupNCCL.cpp:1] [PG 7 Rank 1] Exception (either "
                         "an error or timeout) detected by watchdog at work: 3, last "
                         "enqueued NCCL work: 3, last completed NCCL work: 2.\n",
                         {}),
            Lines{});
}

TEST(ConsoleWatchdog, TheYearIsThatOfTheFile) {
  Watched watched;
  const Time written = *local_time("2026-01-01 00:00:10");
  const auto second = [](const char* text) {
    return "6 35/600029 at " + std::to_string(to_ns(*local_time(text)) / 1'000'000'000);
  };
  EXPECT_EQ(
      watched.read("/w/a.log", watchdog_line("[rank6]:[E1231 23:59:50.1 ", "Rank 1"), written),
      Lines{second("2025-12-31 23:59:50")});
  EXPECT_EQ(watched.read("/w/a.log", watchdog_line("[rank6]:[E101 00:00:09.1 ", "Rank 1"), written),
            Lines{second("2026-01-01 00:00:09")});
  EXPECT_EQ(watched.read("/w/a.log", watchdog_line("[rank6]:[E ", "Rank 1"), written),
            Lines{second("2026-01-01 00:00:10")});
}

TEST(ConsoleWatchdog, IsFoundBesideAPresetToo) {
  Watched watched;
  EXPECT_EQ(
      watched.read("/w/a.log", "{'loss': 2.31}\n" + watchdog_line("[rank6]:[E ", "Rank 1"), {}),
      Lines{"6 35/600029 at 0"});
}

TEST(ScalarText, ReadsNumbersAsLoggersWriteThem) {
  using enum ScalarKind;
  EXPECT_EQ(scalar_at(" 12,345  x", tokens_per_second), 12345);
  EXPECT_EQ(scalar_at("6e-05, 6e-05]", learning_rate), 6e-05);
  EXPECT_EQ(scalar_at(" 10,20", loss), 10);
  EXPECT_EQ(scalar_at("'+2.5'", loss), 2.5);
  EXPECT_EQ(scalar_at("250ms", step_seconds), 0.25);
  EXPECT_EQ(scalar_at("-inf", loss), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(scalar_at("NaN", loss).value()));
  EXPECT_EQ(scalar_at("Infinity", loss), std::numeric_limits<double>::infinity());
  for (const char* word : {"none", "INFO", "InfoNCE", "nanogpt", "nan_mse", "inf-norm"}) {
    EXPECT_EQ(scalar_at(word, loss), std::nullopt) << word;
  }
  EXPECT_EQ(scalar_at("-", loss), std::nullopt);
  EXPECT_EQ(scalar_at("", loss), std::nullopt);
  EXPECT_EQ(place_of_scalar("eval_loss: 1 loss=none loss=2", "loss"), 28);
}

TEST(ScalarText, FindsRanksInLinesAndPaths) {
  EXPECT_EQ(rank_of_line("[rank3]: step"), 3);
  EXPECT_EQ(rank_of_line("12: step"), 12);
  EXPECT_EQ(rank_of_line("12:30: step"), kNoRank);
  EXPECT_EQ(rank_of_log("/w/trainer.global_rank_5.2026.jsonl"), 5);
  EXPECT_EQ(rank_of_log("/w/none_x/attempt_0/3/stdout.log"), 3);
  EXPECT_EQ(rank_of_log("/w/train.log"), kNoRank);
  EXPECT_EQ(rank_of_log("/w/logs/1795236015981368_rank_3_rank-7_stdout.out"),
            3);  // on a node rank-7
}

// Summer time ends at 3:00, when it is 2:00 again.
TEST(ScalarText, TheHourThatComesTwiceIsReadInOrder) {
  setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
  tzset();
  const auto day = local_time("2026-10-25 00:00:00");
  ASSERT_TRUE(day);
  const auto at = [&](auto hours, auto rest) { return *day + hours + rest; };
  using std::chrono::hours, std::chrono::minutes, std::chrono::seconds;
  LocalClock lines;
  LocalClock records;
  const std::pair<std::string, Time> wanted[] = {
      {"2026-10-25 01:59:59", at(hours(1), seconds(3599))},
      {"2026-10-25 02:30:00", at(hours(2), minutes(30))},
      {"2026-10-25 02:29:30", at(hours(2), minutes(29) + seconds(30))},
      {"2026-10-25 02:59:59", at(hours(2), seconds(3599))},
      {"2026-10-25 02:00:01", at(hours(3), seconds(1))},
      {"2026-10-25 02:30:00", at(hours(3), minutes(30))},
      {"2026-10-25 02:59:59", at(hours(3), seconds(3599))},
      {"2026-10-25 03:00:00", at(hours(4), seconds(0))},
  };
  for (const auto& [text, time] : wanted) {
    EXPECT_EQ(lines.read(text), time) << text;
    EXPECT_EQ(records.read_any(text), time) << text;
  }
  unsetenv("TZ");
  tzset();
}

TEST(ScalarText, LocalTimeHasAFraction) {
  const auto whole = local_time("2026-08-01 07:19:37");
  const auto fraction = local_time("2026-08-01 07:19:37,250");
  ASSERT_TRUE(whole && fraction);
  EXPECT_EQ(*fraction - *whole, std::chrono::milliseconds(250));
  LocalClock clock;
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(clock.read("2026-08-01 07:19:37,250"), fraction);
    EXPECT_EQ(clock.read("2026-08-01 07:19:37"), whole);
    EXPECT_EQ(clock.read("2026-08-01 07:20:00"), local_time("2026-08-01 07:20:00"));
    EXPECT_EQ(clock.read("2026-08-01 07:20:x"), std::nullopt);
    EXPECT_EQ(clock.read("2026-08-01"), std::nullopt);
  }
  EXPECT_EQ(local_time("2026-08-01"), std::nullopt);
  EXPECT_EQ(local_time("07:19"), std::nullopt);
}

}  // namespace trainwatch::testing::console_test
